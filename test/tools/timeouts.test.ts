import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { loadToolset } from "../../src/app/toolset.ts";
import { answerCommand } from "../../src/commands/answers.ts";
import { loadConfig } from "../../src/config/config.ts";
import { createDispatcher } from "../../src/tools/dispatch.ts";
import { createTimeouts, timeoutWords } from "../../src/tools/timeouts.ts";
import { defineTool, type Tool } from "../../src/tools/tool.ts";
import { ASKER } from "../fakes/asker.ts";
import { nothingHeld } from "../fakes/encoder.ts";
import { noWorld } from "../fakes/tool-context.ts";

/** One that ends only when it is told to. */
const endless = (name: string, effect: Tool["effect"] = "read") =>
  defineTool({
    name,
    description: "Waits.",
    input: z.strictObject({}),
    effect,
    timeoutMs: 60_000,
    doing: () => "waiting",
    run: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      }),
  });

async function configured(yaml: string) {
  const cwd = await mkdtemp(join(tmpdir(), "timeouts-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, "watchkeeper.yaml"), yaml);
  return loadConfig({}, { cwd });
}

test("a tool's name comes before patterns, and an earlier pattern before a later one; a tool stays the same one", () => {
  const tools = [endless("docker_logs"), endless("docker_list"), endless("disk_usage")];
  const set = createTimeouts({ "docker_*": 20, docker_list: 5, "*_list": 9 });
  expect(set(tools).map(({ timeoutMs }) => timeoutMs)).toEqual([20_000, 5_000, 60_000]);
  expect(set(tools)).toEqual(set(tools));
  expect(set(tools)[0]).toBe(set(tools)[0]);
  expect(set(tools)[2]).toBe(tools[2]);
  expect(timeoutWords(set(tools))).toBe("20 s: docker_logs; 5 s: docker_list");
  expect(timeoutWords(tools)).toBeUndefined();
});

test.each([
  ["read", "error"],
  ["write", "unknown"],
] as const)("a %s that takes longer than is set is ended: %s", async (effect, outcome) => {
  const tools = createTimeouts({ "*": 0.02 })([endless("wait", effect)]);
  const dispatcher = createDispatcher({ tools, host: "here", ...noWorld, encoder: nothingHeld });
  const { signal } = new AbortController();
  const result = await dispatcher.run(
    "wait",
    {},
    {
      signal,
      startedAt: 0,
      asker: ASKER,
      keep: async () => ({ id: "", bytes: 0 }),
      artifact: async () => new Uint8Array(),
    },
  );
  expect(result.outcome).toBe(outcome);
  expect(result.text).toContain("took longer than 0.02 s");
});

test("what is set holds for every tool that is offered, `tools` shows it, and a name that fits none is a mistake", async () => {
  const config = await configured(
    'tools: { timeouts: { disk_usage: 90, "*_command": 120, "mcp_*": 300 } }',
  );
  const { tools } = await loadToolset(config);
  const of = (name: string) => tools.find((tool) => tool.name === name);
  expect([of("disk_usage")?.timeoutMs, of("run_command")?.timeoutMs]).toEqual([90_000, 120_000]);
  const shown = tools.filter(({ name }) => name.startsWith("disk"));
  const parts = { tools: shown, terms: undefined, modelProblem: () => undefined };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the command looks at the tools alone
  const { text } = answerCommand({ name: "tools" }, {} as never, parts) as { text: string };
  expect(text).toMatch(/disk_usage – .*; at most 90 s/);

  const slip = await configured("tools:\n  timeouts:\n    disk_usge: 90\n");
  await expect(loadToolset(slip)).rejects.toThrow(
    /watchkeeper\.yaml:3:5: disk_usge: no tool has this name; did you mean disk_usage\?/,
  );
});

test.each([
  ["{ disk_usage: 0 }", /tools\.timeouts\.disk_usage/],
  ["{ disk_usage: 1801 }", /expected at most 1800 seconds/],
  ["{ disk_usage: 1.5 }", /tools\.timeouts\.disk_usage/],
])("%s is refused", async (timeouts, why) => {
  await expect(configured(`tools: { timeouts: ${timeouts} }`)).rejects.toThrow(why);
});
