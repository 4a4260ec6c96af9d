import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { SYSTEM_PROMPT } from "../../../src/agent/prompt.ts";
import { encodeText } from "../../../src/security/sanitize.ts";
import { createRedactor } from "../../../src/security/redaction.ts";
import { shipped } from "../../../src/core/installation.ts";
import { catalogText } from "../../../src/skills/catalog.ts";
import { loadSkills } from "../../../src/skills/load.ts";
import { toolSpec } from "../../../src/tools/input-schema.ts";
import { ASKER } from "../../fakes/asker.ts";
import { createDispatcher } from "../../../src/tools/dispatch.ts";
import { createTools } from "../../../src/tools/registry.ts";
import { expectPaired, lastAnswer, ofKind, resultsIn, talking } from "../../agent/talking.ts";
import { folderWith, plain, skillText } from "../../skills/folder.ts";
import { encoderOf } from "../../fakes/encoder.ts";
import { noWorld } from "../../fakes/tool-context.ts";

const nowhere = () => Promise.reject(new Error("It only reads skills."));

/** The tools for the skills of a folder, and calls of them as a dispatcher makes them. */
async function toolsOf(folder: string, encode: (text: string) => string = plain) {
  const { skills } = await loadSkills([folder], plain);
  const tools = (await createTools({}, { skills })).filter(({ name }) => /skill/.test(name));
  const dispatcher = createDispatcher({
    host: "stage",
    tools,
    ...noWorld,
    encoder: encoderOf(encode),
  });
  const { signal } = new AbortController();
  const keep = async (bytes: Uint8Array) => ({ id: "whole", bytes: bytes.byteLength });
  const call = async (tool: string, args: Record<string, string>) => {
    const checked = await dispatcher.prepare(tool, args, signal);
    return dispatcher.run(tool, checked.args, {
      signal,
      keep,
      artifact: nowhere,
      startedAt: 0,
      asker: ASKER,
    });
  };
  return { skills, tools, call };
}

const folderOfTwo = () =>
  folderWith({
    "web/SKILL.md": skillText("web", "", "1. Look at `references/a.md`."),
    "web/references/a.md": "What to look at.",
    "disk/SKILL.md": skillText("disk"),
    "disk/own.md": "Only of the disk.",
  });

describe("the tools for skills", () => {
  test("are not there when there are no skills", async () => {
    expect((await toolsOf(await folderWith({ keep: "" }))).tools).toEqual([]);
    expect((await toolsOf(await folderOfTwo())).tools.map(({ name }) => name)).toEqual([
      "activate_skill",
      "find_skill",
      "read_skill_file",
    ]);
  });

  test("say which skill may be meant to whoever names none that there is", async () => {
    const { call } = await toolsOf(await folderOfTwo());
    for (const [tool, args] of [
      ["activate_skill", { name: "wbe" }],
      ["read_skill_file", { skill: "wbe", path: "a.md" }],
    ] as const) {
      const { outcome, text } = await call(tool, args);
      expect(outcome).toBe("error");
      expect(text).toContain("There is no skill wbe. Did you mean web?");
    }
  });

  test("find by its words a skill that is only named, and by its alert", async () => {
    const { skills, call } = await toolsOf(await folderOfTwo());
    expect((await call("find_skill", { text: "the disks are full" })).text).toBe(
      "- disk: Does disk.",
    );
    const { text } = await call("find_skill", { text: "why does nothing fit" });
    expect(text).toBe(`None of ${skills.length} skills fits these words.`);
    const shippedOnes = (await loadSkills([shipped("skills")], plain)).skills;
    const found = await toolsOf(shipped("skills"));
    expect(shippedOnes.length).toBeGreaterThan(20);
    expect((await found.call("find_skill", { text: "KubePodCrashLooping" })).text).toMatch(
      /^- kubernetes-crashes: /,
    );
  });

  test("give the instructions in a tag with the list of files, and each file in one", async () => {
    const { call } = await toolsOf(await folderOfTwo());
    expect(await call("activate_skill", { name: "web" })).toMatchObject({
      outcome: "ok",
      text: `<skill_content name="web">
1. Look at \`references/a.md\`.

Its files, for read_skill_file:
- references/a.md (16 bytes)
</skill_content>`,
    });
    expect(await call("read_skill_file", { skill: "web", path: "references/a.md" })).toMatchObject({
      outcome: "ok",
      text: '<skill_file skill="web" path="references/a.md">\nWhat to look at.\n</skill_file>',
    });
  });

  test("give no file of another skill, and say which there are", async () => {
    const { call } = await toolsOf(await folderOfTwo());
    for (const path of ["own.md", "../disk/own.md", "/etc/passwd", "references", "a\0b"]) {
      const { outcome, text } = await call("read_skill_file", { skill: "web", path });
      expect(outcome).toBe("error");
      expect(text).toContain("Its files: references/a.md.");
    }
  });

  test("give nothing but the listed files, whatever the path", async () => {
    const { skills } = await toolsOf(await folderOfTwo());
    const web = skills.find(({ name }) => name === "web");
    const part = fc.constantFrom(
      "..",
      ".",
      "",
      "references",
      "a.md",
      "SKILL.md",
      "/",
      "disk",
      "own.md",
      "%2e%2e",
      "\\",
      "\0",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
        const id = parts.join("/");
        const text = await web?.read(id).catch((error: { code: string }) => error.code);
        expect(text).toBe(id === "references/a.md" ? "What to look at." : "PATH_REFUSED");
      }),
      { numRuns: 300 },
    );
  });

  test("never give what a link leads to that takes a folder's place while a file is read", async () => {
    const folder = await folderOfTwo();
    await mkdir(join(folder, "elsewhere"));
    await writeFile(join(folder, "elsewhere/a.md"), "hunter2");
    const { skills } = await toolsOf(folder);
    const web = skills.find(({ name }) => name === "web");
    const file = fileURLToPath(new URL("../host/link-swapper.ts", import.meta.url));
    const places = [join(folder, "web/references"), join(folder, "elsewhere")];
    const swapper = spawn(process.execPath, [file, ...places], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(async () => {
      swapper.kill("SIGKILL");
      await once(swapper, "exit");
    });
    await once(swapper.stdout, "data");
    const seen = { read: 0, refused: 0 };
    for (let round = 0; round < 1_000; round += 1) {
      const text = await web
        ?.read("references/a.md")
        .catch((error: { code: string }) => error.code);
      expect(["What to look at.", "PATH_REFUSED"]).toContain(text);
      seen[text === "PATH_REFUSED" ? "refused" : "read"] += 1;
    }
    expect(seen.read).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  });

  test("give no secret of the environment that stands in a skill", async () => {
    const value = "correct-horse-battery";
    const redactor = createRedactor([{ name: "DB_PASSWORD", value }]);
    const folder = await folderWith({
      "web/SKILL.md": skillText("web", "", `psql -p ${value}`),
      "web/a.md": value,
    });
    const { call } = await toolsOf(folder, (text) => encodeText(text, redactor));
    expect((await call("activate_skill", { name: "web" })).text).toContain("[secret:DB_PASSWORD]");
    const { text } = await call("read_skill_file", { skill: "web", path: "a.md" });
    expect(text).not.toContain(value);
  });

  test("show of a long file the beginning and the end, and keep the whole", async () => {
    const folder = await folderWith({
      "web/SKILL.md": skillText("web"),
      "web/long.md": `first\n${"x\n".repeat(20_000)}last`,
    });
    const { call } = await toolsOf(folder);
    const { text, artifacts } = await call("read_skill_file", { skill: "web", path: "long.md" });
    expect(text).toMatch(/first[^]*bytes omitted[^]*last/);
    expect(artifacts).toMatchObject([{ id: "whole" }]);
  });
});

test("a model is told of the skills at first, takes one up and reads its file, in a prefix that stays the same", async () => {
  const { skills, tools } = await toolsOf(await folderOfTwo());
  const system = `${SYSTEM_PROMPT}\n\n${catalogText(skills)}`;
  const stage = await talking(
    [
      { calls: [{ name: "activate_skill", args: { name: "web" } }] },
      { calls: [{ name: "read_skill_file", args: { skill: "web", path: "references/a.md" } }] },
      { text: "CONFIRMED: it is as seen in [T2]." },
    ],
    { tools, talk: { system, tools: tools.map(toolSpec) } },
  );
  await stage.ask("why is the web slow?");
  const [first, second, third] = stage.model.requests;
  expect(first?.system).toMatch(/Skills\n[^]*\n- disk: Does disk\.\n- web: Does web\.$/);
  expect(first?.tools.map(({ name }) => name)).toEqual([
    "activate_skill",
    "find_skill",
    "read_skill_file",
  ]);
  expect(resultsIn(second)[0]?.text).toMatch(
    /activate_skill: ok[^]*<skill_content name="web">\n1\. Look/,
  );
  expect(resultsIn(third)[0]?.text).toContain("What to look at.");
  for (const request of stage.model.requests) {
    expect([request.system, request.tools]).toEqual([first?.system, first?.tools]);
    expectPaired(request);
  }
  expect(JSON.stringify(third?.turns).startsWith(JSON.stringify(second?.turns).slice(0, -1))).toBe(
    true,
  );
  expect(ofKind(await stage.entries(), "tool_finished").map(({ outcome }) => outcome)).toEqual([
    "ok",
    "ok",
  ]);
  expect(lastAnswer(stage)).toContain("CONFIRMED");
  expect(stage.model.left()).toBe(0);
});
