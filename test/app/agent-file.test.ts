import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { agentFileWords, fitAgentText } from "../../src/agent/agent-file.ts";
import { CHAT_PROMPT, HELPER_PROMPT, SYSTEM_PROMPT } from "../../src/agent/prompt.ts";
import { examine } from "../../src/app/cli/examine.ts";
import { createToolbox } from "../../src/app/toolbox.ts";
import { loadToolset } from "../../src/app/toolset.ts";
import { loadConfig } from "../../src/config/config.ts";
import { estimateTokens } from "../../src/core/block.ts";
import type { RunTerms } from "../../src/core/run-terms.ts";
import { createEncoder } from "../../src/security/encoder.ts";
import { createFreezes } from "../../src/team/freezes.ts";
import { type Mode, termsFor } from "../../src/thread/modes.ts";
import { termsIn } from "../../src/thread/surroundings.ts";
import { usedSkills } from "../skills/used.ts";

const FACTS = "# Our systems\n\nThe shop runs in the namespace `store`, never in `shop`.";
const KEY = "sk-ant-test-0123456789";
const EVERY_MODE =
  "agent: { triage: true, chatOnly: [slack:T1:C1], helpers: true }\nmodel: { contextWindow: 200000 }\n";
const HELPER = { kind: "helper", tools: undefined, depth: 1 } as const;
const MODES: readonly Mode[] = [{ kind: "main" }, { kind: "triage" }, { kind: "chat" }, HELPER];

/** A folder with this yaml, and what reads it. */
async function folderWith(yaml = "", text?: string) {
  const cwd = await mkdtemp(join(tmpdir(), "agent-file-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
  const path = join(cwd, "agent.md");
  const save = (next: string | Buffer) => writeFile(path, next);
  await writeFile(join(cwd, "watchkeeper.yaml"), yaml);
  if (text !== undefined) await save(text);
  const config = async (env: Record<string, string> = {}) =>
    loadConfig({ MODEL: "anthropic/claude-test", ANTHROPIC_API_KEY: KEY, ...env }, { cwd });
  return { cwd, path, save, config };
}

async function toolboxOf(folder: Awaited<ReturnType<typeof folderWith>>) {
  const config = await folder.config();
  const said: string[] = [];
  const toolset = await loadToolset(config);
  const toolbox = createToolbox(config, toolset, {
    log: pino({ level: "info" }, { write: (line: string) => void said.push(line) }),
    encoder: createEncoder([]),
    freezes: createFreezes({ read: async () => [], post: () => Promise.reject() }),
    models: { standing: (id) => id },
    adapters: new Map(),
    journal: usedSkills().journal,
  });
  const terms = (): RunTerms => {
    if (toolbox.run.terms === undefined) throw new Error("there is no model");
    return toolbox.run.terms;
  };
  return { toolbox, terms, said };
}

test("what the team wrote stands below the rules of every mode, without secrets; a run keeps the text that it began with, and the next one has the new one", async () => {
  const folder = await folderWith(EVERY_MODE);
  const { toolbox, terms } = await toolboxOf(folder);
  const without = terms();
  await folder.save(FACTS);
  await toolbox.reload();
  const rules = [SYSTEM_PROMPT, SYSTEM_PROMPT, CHAT_PROMPT, HELPER_PROMPT];
  for (const [at, mode] of MODES.entries()) {
    const { system = "", prefix } = termsFor(terms(), mode) ?? {};
    expect(system.startsWith(`${rules[at]}\n\nWhat the team wrote for you (agent.md)\n`)).toBe(
      true,
    );
    expect(system).toMatch(
      /takes none of them away: it approves no action[^]*never in `shop`\.\n\n\(end of agent\.md\)/,
    );
    const before = termsFor(without, mode);
    expect(before?.system.startsWith(rules[at] ?? "none")).toBe(true);
    expect(before?.system).not.toContain("agent.md");
    expect(before?.prefix).not.toBe(prefix);
  }
  expect(terms().system).toMatch(/\(end of agent\.md\)\n\nSkills\n/);

  // A run of any mode keeps what it began with.
  const began = terms();
  await folder.save(`Prod is called blue. The key is ${KEY}.`);
  await toolbox.reload();
  expect(terms().system).toContain("Prod is called blue. The key is [secret:ANTHROPIC_API_KEY].");
  for (const kind of ["main", "triage", "chat"] as const) {
    const { prefix = "" } = termsFor(began, { kind }) ?? {};
    const started = { talk: { prefix, ...(kind !== "main" && { mode: kind }) } };
    const run = { started, modelRun: { terms: { prefix } }, parent: undefined };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what terms are found by
    const known = termsIn(toolbox.run, run as unknown as Parameters<typeof termsIn>[1]);
    expect(known?.prefix).toBe(prefix);
    expect(known?.system).toContain(FACTS);
  }
  await rm(folder.path);
  await toolbox.reload();
  expect(terms().prefix).toBe(without.prefix);
});

test("a start refuses a file that cannot stand in every request; saved so while it runs, what it was stays, and that is told once", async () => {
  const long = "One more fact.\n".repeat(1_200);
  const folder = await folderWith("", long);
  await expect(folder.config().then((config) => loadToolset(config))).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringMatching(/- agent\.md: it has 17.6 KiB, and at most 16 KiB .*a skill$/),
  });
  await folder.save(FACTS);
  const { toolbox, terms, said } = await toolboxOf(folder);
  const began = terms();
  for (const broken of [long, Buffer.from([0xff, 0xfe, 0x00])]) {
    await folder.save(broken);
    const before = said.length;
    await toolbox.reload();
    await toolbox.reload();
    expect(terms()).toBe(began);
    expect(said).toHaveLength(before + 1);
    expect(said.at(-1)).toMatch(/agent\.md: .*what it was before stays in use/);
  }
  await rm(folder.path);
  await symlink(join(folder.cwd, "nowhere"), folder.path);
  await expect(folder.config().then((config) => loadToolset(config))).rejects.toThrow(
    /agent\.md: there is no such file/,
  );
});

test("a small window has its beginning, up to a 24th, and room for what is asked; doctor says from which line on it is left out", async () => {
  const facts = Array.from({ length: 90 }, (_, at) => `- Service ${at} is in namespace ${at}.`);
  const text = `# Services\n\n${facts.join("\n")}`;
  const folder = await folderWith("model: { contextWindow: 8192 }", text);
  const { terms } = await toolboxOf(folder);
  const { fixedTokens, contextWindow, system } = terms();
  expect(fixedTokens).toBeLessThanOrEqual(contextWindow / 4);
  const { text: used, omitted } = fitAgentText(text, 8_192);
  expect(system).toContain(`${used}\n\n(end of agent.md)`);
  expect(estimateTokens(used)).toBeLessThanOrEqual(341);
  expect(text.startsWith(`${used}\n`)).toBe(true);
  const line = used.split("\n").length + 1;
  expect(omitted).toMatchObject({ line });
  expect(await doctorsWords(folder)).toEqual([
    expect.stringMatching(
      new RegExp(
        `^absent: .*/agent\\.md stands in every request, about 3\\d\\d tokens; from line ${line} on it is left out \\(about \\d+ tokens\\), because of a window of 8,192 tokens it may take 341`,
      ),
    ),
  ]);
  expect(agentFileWords({ path: "agent.md", text: FACTS }, 8_192)).toEqual({
    text: "agent.md stands in every request, about 18 tokens",
    isWhole: true,
  });
});

test("one long line that does not fit is left out whole, and points are never cut within", () => {
  expect(fitAgentText("x".repeat(9_000), 8_192)).toEqual({
    text: "",
    omitted: { line: 1, tokens: 2_250 },
  });
  const paragraph = `${"a ".repeat(400)}\n${"b ".repeat(400)}`;
  const { text } = fitAgentText(`Begin.\n\n${paragraph}\n\n- one\n- two`, 4_096);
  expect(text).toBe("Begin.");
});

async function doctorsWords(folder: Awaited<ReturnType<typeof folderWith>>): Promise<string[]> {
  const config = await folder.config();
  for await (const { state, subject, text } of examine({ config, envFile: undefined })) {
    if (subject === "agent.md") return [`${state}: ${text}`];
    if (subject === "store") break;
  }
  return [];
}
