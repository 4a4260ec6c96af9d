import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { goalsPart } from "../../src/config/goals.ts";
import { isBotError } from "../../src/core/errors.ts";
import { settingsOf } from "../../src/core/settings.ts";

async function load(yaml: string, env: Record<string, string> = {}) {
  const cwd = await mkdtemp(join(tmpdir(), "watchkeeper-goals-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, "watchkeeper.yaml"), yaml);
  return loadConfig(env, { cwd });
}

async function goals(yaml: string) {
  return settingsOf(goalsPart, (await load(yaml)).values);
}

async function mistakes(yaml: string, env?: Record<string, string>): Promise<string[]> {
  const error = await load(yaml, env).catch((reason: unknown) => reason);
  return isBotError(error, "CONFIG_INVALID") ? error.message.split("\n- ").slice(1) : [];
}

test("goals are off, and a goal has a budget of its own, where nobody says more", async () => {
  expect(await goals("timezone: UTC\n")).toEqual({
    enabled: false,
    folder: undefined,
    budget: { steps: 200, minutes: 240, tokens: 2_000_000 },
    replan: "every",
    schedules: [],
  });
});

const weekly = `goals:
  enabled: true
  folder: /srv/reports
  budget: { steps: 60, cents: 300 }
  replan: 3
  schedules:
    - cron: "0 6 * * 1"
      zone: Europe/Madrid
      channel: "slack:T1:C1"
      goal: Look for certificates that expire this month
      budget: { minutes: 30 }
`;

test("a schedule says when, where, what and for how much", async () => {
  const prices = "models: { anthropic/claude-x: { price: { input: 3, output: 15 } } }\n";
  const set = await goals(`${weekly}${prices}`);
  expect(set).toMatchObject({ enabled: true, folder: "/srv/reports", replan: 3 });
  expect(set.budget).toEqual({ steps: 60, minutes: 240, tokens: 2_000_000, cents: 300 });
  expect(set.schedules).toEqual([
    {
      cron: "0 6 * * 1",
      zone: "Europe/Madrid",
      channel: "slack:T1:C1",
      goal: "Look for certificates that expire this month",
      budget: { minutes: 30 },
    },
  ]);
});

test.each([
  ["replan: sometimes", /^watchkeeper\.yaml:2:\d+: goals\.replan: expected every, on_change or a/],
  ["budget: { steps: 0 }", /^watchkeeper\.yaml:2:\d+: goals\.budget\.steps: expected/],
  ["budget: { minutes: 20000 }", /goals\.budget\.minutes: expected .*10080/],
  ["bugdet: { steps: 10 }", /goals\.bugdet: unknown; did you mean budget\?/],
  [
    'enabled: true\n  schedules: [{ cron: "at noon", channel: "slack:T1:C1", goal: look }]',
    /^watchkeeper\.yaml:3:\d+: goals\.schedules\[0\]\.cron: expected five fields/,
  ],
  [
    'enabled: true\n  schedules: [{ cron: "0 6 * * 1", channel: "#ops", goal: look }]',
    /goals\.schedules\[0\]\.channel: expected one channel/,
  ],
  [
    'enabled: true\n  schedules: [{ cron: "0 6 * * 1", channel: "slack:T1:C1", goal: "" }]',
    /goals\.schedules\[0\]\.goal: say what is wanted/,
  ],
  [
    'schedules: [{ cron: "0 6 * * 1", channel: "slack:T1:C1", goal: look }]',
    /^watchkeeper\.yaml:2:\d+: goals\.schedules: goals are off; set goals\.enabled: true/,
  ],
])("a mistake is told with its line and key: %s", async (fields, text) => {
  const [first = "", ...more] = await mistakes(`goals:\n  ${fields}\n`);
  expect(more).toEqual([]);
  expect(first).toMatch(text);
});

test("a goal cannot be limited in cents where nobody knows the model's price", async () => {
  const env = { MODEL: "openai/unheard-of", OPENAI_API_KEY: "sk-hidden-0123456789" };
  expect(await mistakes("goals: { budget: { cents: 50 } }\n", env)).toEqual([
    expect.stringMatching(
      /^watchkeeper\.yaml:1:\d+: goals\.budget\.cents: the price of openai\/unheard-of is unknown/,
    ),
  ]);
});
