import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { renderCard } from "../../../src/adapters/render/card.ts";
import type { JsonObject } from "../../../src/core/entry.ts";
import { settingsOf } from "../../../src/core/settings.ts";
import { shipped } from "../../../src/core/installation.ts";
import { loadSkills, openSkills } from "../../../src/skills/load.ts";
import { NOTHING_LENT } from "../../../src/tools/registry.ts";
import { skills as integration } from "../../../src/tools/skills/integration.ts";
import { createProposeSkillChange } from "../../../src/tools/skills/propose-skill-change.ts";
import { toolSpec } from "../../../src/tools/input-schema.ts";
import { lastAnswer, talking } from "../../agent/talking.ts";
import { card } from "../../fakes/dial.ts";
import { folderWith, plain, skillText } from "../../skills/folder.ts";
import { hostContext } from "../host/context.ts";

const ctx = hostContext();
const BODY = "1. Look at the disk.\n2. Restart web.\n3. Look again.\n4. Tell Ana.\n5. Go home.";

async function own(files: Record<string, string> = {}) {
  const folder = await folderWith({
    "web/SKILL.md": skillText("web", "", BODY),
    "web/notes.md": "old notes\n",
    ...files,
  });
  const library = openSkills([folder], plain);
  await library.refresh();
  const tool = createProposeSkillChange(library.skills, [folder]);
  const propose = async (given: JsonObject) => {
    const args = { skill: "web", reason: "It was wrong.", ...given };
    const fixed = await tool.pin?.(tool.input.parse(args), ctx);
    if (fixed === undefined) throw new Error("propose_skill_change does not pin.");
    return fixed;
  };
  const diff = async (given: JsonObject) => (await tool.preview?.(await propose(given), ctx))?.diff;
  const run = async (given: JsonObject) => tool.run(await propose(given), ctx);
  const undo = async ({ undo: call }: Awaited<ReturnType<typeof run>>) => {
    const args = tool.input.parse(call?.args);
    await tool.precheck?.(args, ctx);
    return tool.run(args, ctx);
  };
  const read = (path: string) => readFile(join(folder, path), "utf8");
  return { folder, library, tool, propose, diff, run, undo, read };
}

const FIX = { old: "2. Restart web.", new: "2. Drain web.\n3. Restart it." };

describe("a proposed change to a skill", () => {
  test("is shown as a diff with some lines around", async () => {
    const { diff } = await own();
    expect(await diff(FIX)).toBe(`--- web/SKILL.md
+++ web/SKILL.md
@@ -4,7 +4,8 @@
 ---
 
 1. Look at the disk.
-2. Restart web.
+2. Drain web.
+3. Restart it.
 3. Look again.
 4. Tell Ana.
 5. Go home.`);
    expect(await diff({ file: "more/a.md", old: "", new: "a\nb" })).toBe(`--- /dev/null
+++ web/more/a.md
@@ -0,0 +1,2 @@
+a
+b
\\ No newline at end of file`);
    expect(await diff({ file: "notes.md", old: "old notes\n", new: "" })).toBe(
      "--- web/notes.md\n+++ web/notes.md\n@@ -1,1 +0,0 @@\n-old notes",
    );
  });

  test("is written in one step, keeps the file's rights, and is what the next runs read", async () => {
    const { folder, library, run, read } = await own();
    await chmod(join(folder, "web/SKILL.md"), 0o640);
    await run(FIX);
    expect(await read("web/SKILL.md")).toBe(skillText("web", "", BODY.replace(FIX.old, FIX.new)));
    expect((await stat(join(folder, "web/SKILL.md"))).mode & 0o777).toBe(0o640);
    expect(new Set(await readdir(join(folder, "web")))).toEqual(new Set(["SKILL.md", "notes.md"]));
    expect(await library.refresh()).toBe(true);
    expect(library.skills[0]?.body).toContain("2. Drain web.");
  });

  test.each([
    ["text in place of text", { ...FIX }, "web/SKILL.md"],
    ["text that goes", { old: "3. Look again.\n", new: "" }, "web/SKILL.md"],
    ["a new file", { file: "more/a.md", old: "", new: "a" }, "web/more/a.md"],
  ])("is taken back byte by byte, and that too: %s", async (_, given, path) => {
    const { run, undo, read, tool, propose } = await own();
    const now = () => read(path).catch(() => undefined);
    const before = await now();
    const call = await propose(given);
    expect(await tool.verify?.(call, ctx, 0)).toMatchObject({ verdict: "not done" });
    const done = await run(given);
    const after = await now();
    expect(after).not.toBe(before);
    expect(await tool.verify?.(call, ctx, 0)).toMatchObject({ verdict: "done", undo: done.undo });
    const undone = await undo(done);
    expect(await now()).toBe(before);
    await undo(undone);
    expect(await now()).toBe(after);
  });

  test("is neither made nor taken back once somebody else changed the file", async () => {
    const { run, undo, folder, read, tool, propose } = await own();
    const approved = await propose(FIX);
    const done = await run({ old: "4. Tell Ana.", new: "4. Tell Bob." });
    const other = { code: "PRECHECK_FAILED", message: expect.stringContaining("has changed") };
    await expect(tool.precheck?.(approved, ctx)).rejects.toMatchObject(other);
    await expect(tool.run(approved, ctx)).rejects.toMatchObject(other);
    await writeFile(join(folder, "web/SKILL.md"), skillText("web", "", "Mine."));
    await expect(undo(done)).rejects.toMatchObject(other);
    expect(await tool.verify?.(approved, ctx, 0)).toMatchObject({ verdict: "unknown" });
    expect(await read("web/SKILL.md")).toContain("Mine.");
  });

  test.each([
    [{ old: "Look", new: "See" }, "more than once"],
    [{ old: "4. tell Ana.", new: "" }, "does not stand in SKILL.md"],
    [{ old: "4. Tell Ana.", new: "4. Tell Ana." }, "nothing would change"],
    [{ file: "notes.md", old: "", new: "a" }, "is there already"],
    [{ old: "description: Does web.\n", new: "" }, "SKILL.md:1: description: expected a text"],
    [{ old: "name: web", new: "name: other" }, "expected the name of its folder"],
    [{ file: "checks.yaml", old: "", new: "checks: 1" }, "checks.yaml"],
    [{ file: "hints.yaml", old: "", new: "hints: [{ use: 1 }]" }, "hints.yaml"],
    [{ file: "notes.md", old: "old", new: "\0" }, "is not UTF-8 text"],
    [{ file: "../disk/SKILL.md", old: "", new: "a" }, "may be changed"],
    [{ file: ".hidden", old: "", new: "a" }, "may be changed"],
    [{ file: "/etc/passwd", old: "root", new: "a" }, "may be changed"],
    [{ file: "out/a.md", old: "", new: "a" }, "leads out"],
    [{ file: "link.md", old: "secret", new: "a" }, "may be changed"],
    [{ skill: "wbe", ...FIX }, "Did you mean web?"],
  ])("is refused before anybody is asked: %j", async (given, why) => {
    const { folder, propose, read } = await own();
    const outside = await folderWith({ "a.md": "secret" });
    await symlink(outside, join(folder, "web/out"));
    await symlink(join(outside, "a.md"), join(folder, "web/link.md"));
    await expect(propose(given)).rejects.toThrow(why);
    expect(await read("web/SKILL.md")).toBe(skillText("web", "", BODY));
    expect(await readdir(outside)).toEqual(["a.md"]);
  });

  test("is only for skills of the operators' folders: none of the program's, none from git", async () => {
    const git = await folderWith({ keep: "" });
    const copy = join(git, "skills-git", "0".repeat(64), "ops/web");
    await mkdir(copy, { recursive: true });
    await writeFile(join(copy, "SKILL.md"), skillText("web", "", BODY));
    const other = await folderWith({ "disk/SKILL.md": skillText("disk", "", BODY) });
    const { skills } = await loadSkills([shipped("skills"), git, other], plain);
    const tool = createProposeSkillChange(skills, [git, shipped("skills")]);
    for (const skill of ["web", "disk", "http-5xx"]) {
      const given = tool.input.parse({ skill, reason: "It was wrong.", ...FIX });
      await expect(tool.pin?.(given, ctx)).rejects.toThrow(
        `The skill ${skill} is not one of your own`,
      );
    }
  });

  test("can be proposed only where the operators said so and have folders of their own", async () => {
    const { folder } = await own();
    const namesWith = async (given: object) => {
      const settings = { ...settingsOf(integration, {}), ...given };
      return (await integration.tools(settings, NOTHING_LENT)).map(({ name }) => name);
    };
    expect(await namesWith({ folders: [folder] })).not.toContain("propose_skill_change");
    expect(await namesWith({ proposals: true })).not.toContain("propose_skill_change");
    expect(await namesWith({ folders: [folder], proposals: true })).toContain(
      "propose_skill_change",
    );
  });
});

test("a model's change goes to people on a card with the diff, is made once one approves, and is undone by a press", async () => {
  const { tool, read } = await own();
  const args = { skill: "web", file: "SKILL.md", reason: "Draining was missing.", ...FIX };
  const stage = await talking(
    [{ calls: [{ name: "propose_skill_change", args }] }, { text: "CONFIRMED: see [T1]." }],
    { tools: [tool], talk: { tools: [toolSpec(tool)] } },
  );
  await stage.ask("it is resolved: keep what helped");
  const open = card(stage, "a1");
  if (open === undefined) throw new Error("no card");
  expect(open).toMatchObject({ phase: "open", effect: "write" });
  expect(renderCard(open).command).toMatch(
    /^--- web\/SKILL\.md\n[^]*\n-2\. Restart web\.\n\+2\. Drain/,
  );
  expect(open.preview.title).toBe("Change SKILL.md of the skill web");
  expect(open.preview.command).toContain("-2. Restart web.\n+2. Drain web.");
  expect(open.preview.lines).toContainEqual({ label: "Why", value: "Draining was missing." });
  expect(await read("web/SKILL.md")).toContain(FIX.old);
  await stage.click("a1", { kind: "approve" }, "test:bob");
  await stage.settle();
  expect(await read("web/SKILL.md")).toContain(FIX.new);
  expect(card(stage, "a1")).toMatchObject({ phase: "done", undo: { state: "offered" } });
  expect(lastAnswer(stage)).toContain("CONFIRMED");
  await stage.say("undo a1", "test:cy");
  await stage.settle();
  expect(card(stage, "a2")?.preview.title).toBe("Undo a1: Change SKILL.md of the skill web");
  await stage.click("a2", { kind: "approve" }, "test:bob");
  await stage.settle();
  expect(await read("web/SKILL.md")).toBe(skillText("web", "", BODY));
});
