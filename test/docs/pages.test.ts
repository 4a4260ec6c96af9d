import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMAND_FORMS, readText } from "../../src/commands/grammar.ts";
import { loadSkills } from "../../src/skills/load.ts";
import { createTools } from "../../src/tools/registry.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "docs/configuration.md",
  "docs/errors.md",
  "docs/benchmarks.md",
  "docs/model.md",
  "docs/skills.md",
  "docs/incidents.md",
  "docs/slack.md",
  "docs/discord.md",
];

describe("what the pages say", () => {
  test("every link and every path that they name exists", () => {
    for (const page of PAGES) {
      const text = read(page);
      const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link = ""]) =>
        join(dirname(page), link),
      );
      const paths = [...text.matchAll(/`((?:src|test|docs|bench)\/[\w./-]*\w)`/g)].map(
        ([, path = ""]) => path,
      );
      for (const path of [...links, ...paths]) {
        // The tool that CONTRIBUTING shows how to add is not there.
        if (path !== "src/tools/host/kernel.ts")
          expect(existsSync(join(ROOT, path)), `${page}: ${path}`).toBe(true);
      }
    }
  });

  test("every npm script that they name exists", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    for (const page of PAGES) {
      for (const [, name = ""] of read(page).matchAll(/npm run ([\w:]+)/g))
        expect(Object.keys(scripts), page).toContain(name);
    }
  });

  test("the README's first screen has the two commands that do all the set-up", () => {
    const screen = read("README.md").split("\n").slice(0, 60).join("\n");
    expect(screen).toContain("npm ci && npm start");
    expect(screen).toContain("npm ci && npm test");
  });

  test("the README's table of tools is the registry", async () => {
    const rows = [...read("README.md").matchAll(/^\| `(\w+)` +\| (read|write|destructive) +\|/gm)];
    const { skills } = await loadSkills([join(ROOT, "skills")], (text) => text);
    const tools = createTools({ logRoots: [], skills }).map(({ name, effect }) => [name, effect]);
    expect(rows.map(([, name, effect]) => [name, effect])).toEqual(tools);
  });

  test("the commands that help lists are commands", () => {
    for (const form of [
      COMMAND_FORMS.stop,
      COMMAND_FORMS.help,
      COMMAND_FORMS.tools,
      COMMAND_FORMS.cost,
      COMMAND_FORMS.approvals,
    ]) {
      expect(readText(form).kind).not.toBe("message");
    }
    expect(readText("run run_command argv='[\"uptime\"]'")).toMatchObject({
      command: { name: "run", tool: "run_command" },
    });
  });
});
