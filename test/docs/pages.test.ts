import { existsSync, readdirSync, readFileSync } from "node:fs";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { readRecording } from "../../demo/recording.ts";
import { manifestLink } from "../../src/adapters/slack/manifest.ts";
import { usage } from "../../src/app/cli/commands.ts";
import { readText } from "../../src/commands/grammar.ts";
import { type CommandWord, USAGE } from "../../src/commands/phrases.ts";
import { loadSkills } from "../../src/skills/load.ts";
import { createTools } from "../../src/tools/registry.ts";
import type { Tool } from "../../src/tools/tool.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "SECURITY.md",
  "docs/install.md",
  "docs/upgrade.md",
  "docs/operate.md",
  "docs/recordings.md",
  "docs/commands.md",
  "docs/configuration.md",
  "docs/errors.md",
  "docs/benchmarks.md",
  "docs/model.md",
  "docs/skills.md",
  "docs/packs.md",
  "docs/incidents.md",
  "docs/slack.md",
  "docs/discord.md",
  ...readdirSync(join(ROOT, "docs/integrations")).map((file) => `docs/integrations/${file}`),
];

describe("what the pages say", () => {
  test("every link and every path that they name exists", () => {
    for (const page of PAGES) {
      const text = read(page);
      const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link = ""]) =>
        join(dirname(page), link),
      );
      const paths = [...text.matchAll(/`((?:src|test|docs|bench|demo)\/[\w./-]*\w)`/g)].map(
        ([, path = ""]) => path,
      );
      const missing = [...links, ...paths].filter((path) => !existsSync(join(ROOT, path)));
      // The tool that CONTRIBUTING shows how to add is not there.
      expect(new Set(missing), page).toEqual(
        new Set(page === "CONTRIBUTING.md" ? ["src/tools/host/kernel.ts"] : []),
      );
    }
  });

  test("the tool that CONTRIBUTING adds passes the compiler, and is bound to the machine that it looks at", async () => {
    const [, snippet = ""] = /```ts\n([^]*?)```/.exec(read("CONTRIBUTING.md")) ?? [];
    const folder = join(ROOT, "src/tools/host");
    const placed = snippet.replaceAll(
      /"(\.[^"]+)"/g,
      (_, file: string) => `"${join(folder, file)}"`,
    );
    const scratch = await mkdtemp(join(ROOT, "node_modules/.contributing-"));
    onTestFinished(() => rm(scratch, { recursive: true, force: true }));
    const file = join(scratch, "kernel.ts");
    await writeFile(file, placed);
    const settings = { extends: join(ROOT, "tsconfig.json"), include: [], files: [file] };
    await writeFile(join(scratch, "tsconfig.json"), JSON.stringify(settings));
    const compiled = await run(join(ROOT, "node_modules/.bin/tsc"), ["-p", scratch]).catch(String);
    expect(compiled).toMatchObject({ stdout: "" });
    const { kernel }: { kernel: Tool } = await import(file);
    expect(kernel).toMatchObject({ name: "kernel", hostBound: true });
    expect(kernel.input.safeParse({ host: "web-1" }).success).toBe(true);
  });

  test("doctor's link creates the Slack app of slack-manifest.yaml", async () => {
    const link = new URL(await manifestLink());
    expect(`${link.origin}${link.pathname}`).toBe("https://api.slack.com/apps");
    expect(link.searchParams.get("new_app")).toBe("1");
    const manifest: unknown = JSON.parse(link.searchParams.get("manifest_json") ?? "");
    expect(manifest).toEqual(parse(read("slack-manifest.yaml")));
  });

  test("the example of a recording is one", () => {
    const [, json = ""] = /```json\n([^]*?)```/.exec(read("docs/recordings.md")) ?? [];
    expect(readRecording(json, { shop: "http://shop" }).about).toBe("What it is a recording of.");
  });

  test("every npm script that they name exists", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    for (const page of PAGES) {
      for (const [, name = ""] of read(page).matchAll(/npm run ([\w:]+)/g))
        expect(Object.keys(scripts), page).toContain(name);
    }
  });

  test("the README's first screen has the two commands that show it and start it", () => {
    const screen = read("README.md").split("\n").slice(0, 60).join("\n");
    expect(screen).toContain("npm ci && npm start");
    expect(screen).toContain("npm ci && npm run demo");
    expect(read("CONTRIBUTING.md")).toContain("npm test");
  });

  test("the README's table of commands has each command of the program", () => {
    const rows = read("README.md").matchAll(/^\| `npm start -s -- ([a-z]+)/gm);
    const named = usage().matchAll(/npm start -s -- ([a-z]+)/g);
    const wordsOf = (found: Iterable<RegExpExecArray>) =>
      new Set(Array.from(found, ([, word]) => word));
    expect(wordsOf(rows)).toEqual(wordsOf(named));
  });

  test("the README leads to the page of each system", () => {
    const linked = read("README.md").matchAll(/\]\(docs\/integrations\/([\w-]+\.md)\)/g);
    const pages = readdirSync(join(ROOT, "docs/integrations"));
    expect(new Set(Array.from(linked, ([, page]) => page))).toEqual(new Set(pages));
  });

  test("the README's table of tools is the registry", async () => {
    const rows = [
      ...read("README.md").matchAll(/^\| `(\w+)` +\| (read|write|destructive) +\| (.*?) +\|$/gm),
    ];
    const { skills } = await loadSkills([join(ROOT, "skills")], (text) => text);
    // A folder of skills brings the tools for scripts, and leave to change them.
    const own = {
      "skills.folders": ["/srv/skills"],
      "skills.proposals": true,
      "goals.enabled": true,
    };
    const tools = (await createTools(own, { skills })).map(({ name, effect, summary }) => [
      name,
      effect,
      summary,
    ]);
    expect(rows.map(([, ...cells]) => cells)).toEqual(tools);
  });

  test("every command is read in each of its forms, and docs/commands.md has it", () => {
    // A form is shown with words to fill in; the rest of it is what is typed.
    const filled: Record<CommandWord, string[]> = {
      run: ["run run_command argv='[\"uptime\"]'"],
      stop: ["stop"],
      extend: ["extend", "extend r1"],
      help: ["help"],
      status: ["status"],
      whoami: ["whoami"],
      tools: ["tools", "tools kubernetes"],
      cost: ["cost", "cost today", "cost per day"],
      approvals: ["approvals"],
      quiet: ["quiet"],
      listen: ["listen"],
      approve: ["approve a1", "approve a1.2"],
      confirm: ["confirm a1 shop/web"],
      grant: ["grant a1"],
      grants: ["grants"],
      revoke: ["revoke a1"],
      "break-glass": ["break-glass a1 because nobody else is awake"],
      freeze: [
        "freeze prod until 14:00",
        "freeze prod until 14:00 because migration",
        "freeze everything for 2h",
      ],
      unfreeze: ["unfreeze prod"],
      freezes: ["freezes"],
      feedback: ["feedback"],
      remember: ["remember that web-2 is drained"],
      notes: ["notes", "notes about web-2"],
      forget: ["forget m-k3qa7xw2ab", "forget note web-2 drained"],
      recall: ["recall checkout answers 502"],
      mirror: ["mirror to discord:1122:3344", "mirror to slack:T1:C1"],
      unmirror: ["unmirror"],
      deny: ["deny a1", "deny a1 because it is noon"],
      settle: ["settle a1 happened", "settle a1 not-happened because I looked"],
      edit: ['edit a1 {"name": "value"}'],
      cancel: ["cancel a1"],
      ask: ["ask again a1"],
      undo: ["undo a1"],
      answer: ["answer r1.t2 staging"],
      incidents: ["incidents", "incidents last week", "incidents search disk"],
      handoff: ["handoff", "handoff last week"],
      incident: [
        "incident inc-20261122-q7ow",
        "incident open The shop is down severity=sev1",
        "incident update inc-20261122-q7ow note='db is back'",
        "incident resolve inc-20261122-q7ow cause='a full disk'",
      ],
      goal: [
        "goal find out why checkout is slow since Monday",
        "goal status",
        "goal pause",
        "goal resume",
        "goal stop",
        "goal extend by 30m",
        "goal extend by 50 steps",
        "goal extend by $2",
      ],
      mcp: ["mcp accept github list_issues"],
      model: ["model", "model anthropic/claude-sonnet-5-5"],
    };
    expect(Object.keys(filled)).toEqual(Object.keys(USAGE));
    const page = read("docs/commands.md");
    for (const [word, forms] of Object.entries(filled)) {
      for (const form of forms) {
        const reading = readText(form);
        expect(reading.kind, form).not.toBe("message");
        expect(reading, form).not.toMatchObject({ command: { name: "invalid" } });
        expect(form.split(" ")[0]).toBe(word);
      }
      expect(page).toContain(`\`${word}`);
    }
  });
});
