import { chmod, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { settingsOf } from "../../../src/core/settings.ts";
import { loadSkills } from "../../../src/skills/load.ts";
import { createTools, NOTHING_LENT } from "../../../src/tools/registry.ts";
import { createRunSkillScript } from "../../../src/tools/skills/run-skill-script.ts";
import { skills as integration } from "../../../src/tools/skills/integration.ts";
import { folderWith, plain, skillText } from "../../skills/folder.ts";
import { hostContext } from "../host/context.ts";

const ctx = hostContext();

async function scripted(files: Record<string, string>) {
  const folder = await folderWith({
    "web/SKILL.md": skillText("web"),
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`web/${name}`, text])),
  });
  const { skills } = await loadSkills([folder], plain);
  const tool = createRunSkillScript(skills);
  const proposed = async (script: string, args: string[] = []) => {
    const pinned = await tool.pin?.(tool.input.parse({ skill: "web", script, args }), ctx);
    if (pinned === undefined) throw new Error("run_skill_script does not pin.");
    return pinned;
  };
  const run = async (script: string, args?: string[]) =>
    tool.run(await proposed(script, args), ctx);
  return { folder, tool, proposed, run };
}

describe("a script of a skill", () => {
  test.each([
    ["scripts/a.sh", 'echo "sh $1"', "sh x y"],
    ["scripts/env", "#!/usr/bin/env -S sh -e\nfalse\necho never", "Exit code 1."],
    [
      "scripts/bash",
      '#!/bin/bash\n[[ $1 == x* ]] && echo "bash ${#@} $PATH$MODEL_KEY"',
      "bash 1 /",
    ],
    ["scripts/deep/a.pl", 'print "perl $ARGV[0]\\n";', "perl x y"],
  ])(
    "%s runs by its first line or its name, without a shell around it",
    async (script, text, told) => {
      process.env["MODEL_KEY"] = "hunter2hunter2";
      const { run } = await scripted({ [script]: text });
      const said = (await run(script, ["x y"])).text;
      delete process.env["MODEL_KEY"];
      expect(said).toContain(told);
      expect(said).not.toContain("hunter2");
    },
  );

  test("is shown to the last byte, with what runs it", async () => {
    const { tool, proposed, folder } = await scripted({ "scripts/a.sh": "echo a" });
    const preview = await tool.preview?.(await proposed("scripts/a.sh", ["$(id)"]), ctx);
    const card = (preview?.lines ?? []).map(({ label, value }) => `${label}: ${value}`).join("\n");
    expect(preview?.command).toBe(`sh ${folder}/web/scripts/a.sh $(id)`);
    expect(card).toMatch(/SHA-256: [0-9a-f]{64} of ".*\/web\/scripts\/a\.sh"/);
    expect(card).toContain('Argument 2: "$(id)"');
    expect(tool.effect).toBe("destructive");
  });

  test("does not run once it is another than the one that was approved", async () => {
    const { tool, proposed, folder } = await scripted({ "scripts/a.sh": "echo a" });
    const approved = await proposed("scripts/a.sh");
    await writeFile(join(folder, "web/scripts/a.sh"), "echo other");
    await expect(tool.precheck?.(approved, ctx)).rejects.toMatchObject({ code: "PRECHECK_FAILED" });
    await expect(tool.run(approved, ctx)).rejects.toMatchObject({ code: "PRECHECK_FAILED" });
  });

  test("is one of the skill's own: no other file, and none that a link leads to", async () => {
    const { run, folder } = await scripted({ "scripts/a.sh": "echo a", "other.sh": "echo other" });
    await writeFile(join(folder, "outside.sh"), "echo outside");
    await symlink(join(folder, "outside.sh"), join(folder, "web/scripts/link.sh"));
    for (const script of [
      "scripts/link.sh",
      "scripts/../other.sh",
      "scripts/../../outside.sh",
      "scripts/none.sh",
      "scripts/./a.sh",
    ])
      await expect(run(script)).rejects.toMatchObject({
        code: "PATH_REFUSED",
        message: expect.stringContaining("Its scripts: scripts/a.sh."),
      });
    await expect(run("other.sh")).rejects.toThrow("must be a file in scripts/");
    await rename(join(folder, "web/scripts"), join(folder, "elsewhere"));
    await symlink(join(folder, "elsewhere"), join(folder, "web/scripts"));
    await expect(run("scripts/a.sh")).rejects.toMatchObject({ code: "PATH_REFUSED" });
  });

  test("that nothing says how to run is not run, unless it is a program", async () => {
    const { run, folder } = await scripted({ "scripts/data": "echo a" });
    await expect(run("scripts/data")).rejects.toThrow("begin it with a line such as #!/bin/sh");
    await chmod(join(folder, "web/scripts/data"), 0o755);
    expect((await run("scripts/data")).text).toContain("a");
  });

  test("can be run only where the operators have skills of their own", async () => {
    const folder = await folderWith({ "web/SKILL.md": skillText("web") });
    const { skills } = await loadSkills([folder], plain);
    const namesWith = async (folders: string[]) => {
      const parts = integration.tools(
        { ...settingsOf(integration, {}), folders },
        { ...NOTHING_LENT, skills },
      );
      return (await parts).map(({ name }) => name);
    };
    expect(await namesWith([])).not.toContain("run_skill_script");
    expect(await namesWith([folder])).toContain("run_skill_script");
    expect((await createTools({}, { skills })).map(({ name }) => name)).not.toContain(
      "run_skill_script",
    );
  });
});
