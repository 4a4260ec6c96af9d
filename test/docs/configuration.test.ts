import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pages } from "../../docs/generate.ts";
import { loadConfig } from "../../src/config/config.ts";
import { decidePolicy } from "../../src/approvals/policy.ts";
import { createEncoder } from "../../src/security/encoder.ts";
import { createDispatcher } from "../../src/tools/dispatch.ts";
import { createTools } from "../../src/tools/registry.ts";
import { PARTS, SETTINGS } from "../../src/config/table.ts";
import { settingsIn } from "../../src/core/settings.ts";
import { noWorld } from "../fakes/tool-context.ts";

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "watchkeeper-pages-"));
});

afterEach(async () => {
  await rm(cwd, { recursive: true });
});

describe("the pages on configuration", () => {
  it("say of every setting what the code says: `npm run docs` writes them", async () => {
    for (const [path, text] of Object.entries(await pages()))
      expect(await readFile(path, "utf8"), path).toBe(text);
  });

  it("have every setting, each with a sentence", async () => {
    const files = Object.values(await pages()).join("");
    for (const { name, source, description, schema } of SETTINGS) {
      const isSection = schema.safeParse({}).success || name === "approvals" || name === "access";
      expect(files, name).toContain(source === "env" ? `\n${name}=` : `| \`${name}`);
      if (!isSection) expect(description, name).toMatch(/\.$/);
    }
  });

  it("a variable of several parts is one setting, declared once", () => {
    const declared = PARTS.flatMap(settingsIn);
    for (const { name, schema } of declared)
      expect(declared.filter((other) => other.name === name && other.schema !== schema)).toEqual(
        [],
      );
  });

  it("a page's path never stands for the words of its link in .env.example", async () => {
    const [, ...settings] = (await readFile(".env.example", "utf8")).split("\n\n");
    const texts = settings.map((setting) => setting.replaceAll("\n# ", " "));
    const paths = texts.flatMap((text) => text.match(/\S*\s?\S*docs\/\S*/g) ?? []);
    expect(paths.length).toBeGreaterThan(5);
    expect(paths.filter((path) => !/\bSee docs|\(docs/.test(path))).toEqual([]);
  });

  it("the example variables change nothing", async () => {
    const env = parseEnv(await readFile(".env.example", "utf8"));
    expect(await loadConfig(env, { cwd })).toEqual(await loadConfig({}, { cwd }));
  });

  it("the example in docs/configuration.md loads", async () => {
    const page = await readFile("docs/configuration.md", "utf8");
    const yaml = /```yaml\n([^]*?)```/.exec(page)?.[1] ?? "";
    await writeFile(join(cwd, "watchkeeper.yaml"), yaml);
    const config = await loadConfig({}, { cwd });
    expect(config.approvals.rules.map((rule) => rule.decide)).toEqual(["allow", "deny", "ask"]);
    expect(config.values["network.allow"]).toHaveLength(2);
    expect(config.values["logs.roots"]).toEqual(["/var/log", "/srv/app/logs"]);
    // And means what it says beside each rule.
    const tools = await createTools();
    const dispatcher = createDispatcher({
      host: "stage",
      tools,
      ...noWorld,
      encoder: createEncoder([]),
    });
    const decisionOn = (line: string) => {
      const call = { tool: "run_command", args: { argv: line.split(" ") } };
      const effect = dispatcher.effectOf(call.tool, call.args);
      return decidePolicy(config.approvals, { ...call, effect });
    };
    expect(decisionOn("systemctl reload nginx").kind).toBe("allow");
    expect(decisionOn("systemctl status nginx").kind).toBe("allow");
    expect(decisionOn("env rm -rf /srv").kind).toBe("deny");
    for (const line of ["systemctl restart nginx", "kill -9 1234", "kubectl delete ns prod"]) {
      expect(decisionOn(line)).toMatchObject({
        kind: "ask",
        quorum: 2,
        requesterMayApprove: false,
      });
    }
  });
});
