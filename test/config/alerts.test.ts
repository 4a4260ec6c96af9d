import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { alertsPart } from "../../src/config/alerts.ts";
import { loadConfig } from "../../src/config/config.ts";
import { isBotError } from "../../src/core/errors.ts";
import { settingsOf } from "../../src/core/settings.ts";

const SLACK = { SLACK_BOT_TOKEN: "xoxb-1-hidden", SLACK_APP_TOKEN: "xapp-1-hidden" };

async function load(yaml: string, env: Record<string, string> = {}) {
  const cwd = await mkdtemp(join(tmpdir(), "watchkeeper-alerts-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, "watchkeeper.yaml"), yaml);
  return loadConfig(env, { cwd });
}

/** Each as `place: key: what is wrong`. */
async function mistakes(yaml: string, env?: Record<string, string>): Promise<string[]> {
  const error = await load(yaml, env).catch((reason: unknown) => reason);
  return isBotError(error, "CONFIG_INVALID") ? error.message.split("\n- ").slice(1) : [];
}

const route = (fields: string, channel = "slack:T1:C1") =>
  `alerts:\n  routes:\n    - channel: "${channel}"\n      ${fields}\n`;
const PLACE = "watchkeeper.yaml:4:";

test.each([
  [
    'mention: ["@ana"]',
    /alerts\.routes\[0\]\.mention\[0\]: expected an account or a group with ids, not names: "slack:T1:U07" or /,
  ],
  ['mention: ["slack:T1:S024BE7LH"]', /mention\[0\]: expected an account or a group with ids/],
  ['mention: ["mcp:agent"]', /mention\[0\]: expected an account or a group with ids/],
  ["mention: slack:group:S1", /mention: expected a list, such as \["slack:group:S0SRE"\]/],
  [
    'mention: ["discord:5566"]',
    /mention\[0\] is of Discord, and the channel is not: name somebody who is there/,
  ],
  [
    "match: { severity: 1 }",
    /alerts\.routes\[0\]\.match\.severity.*: expected text, or a list of texts, .* in quotes/,
  ],
  ["match: { up: false }", /match\.up.*: expected text, or a list of texts/],
  ["match: { service: ~ }", /match\.service.*: expected text, or a list of texts/],
  ["match: { service: [[a]] }", /match\.service\[0\]: expected text, or a list of texts/],
  ["match: { service: { is: a } }", /match\.service.*: expected text, or a list of texts/],
  ["match: { service: [] }", /match\.service is an empty list, which matches nothing/],
  [
    'match: { service: "^shop" }',
    /match\.service.*: looks like a regular expression; a pattern has only \* /,
  ],
  ['match: { service: "shop-.*" }', /looks like a regular expression/],
  ['match: { service: "/shop$" }', /looks like a regular expression/],
  ["match: { service: 'shop-\\d' }", /looks like a regular expression/],
  [
    'match: { severity: "critical|warning" }',
    /looks like a regular expression; .* a list has several, such as \[critical, warning\]/,
  ],
  ['match: { severity: "~crit" }', /looks like a regular expression/],
  ["match: { severity: critcal }", /match\.severity: did you mean critical\?/],
  ["match: { severity: [critical, Waring] }", /match\.severity\[1\]: did you mean warning\?/],
  ["match: critical", /alerts\.routes\[0\]\.match takes an object, not text/],
])("a route says what is wrong and what to write: %s", async (fields, text) => {
  const [first = "", ...more] = await mistakes(route(fields));
  expect(more).toEqual([]);
  expect(first).toMatch(text);
  expect(first).toContain(PLACE);
});

test.each([
  'match: { severity: [critical, P1, page, sev2, Disaster, "crit*"], team: "", path: "/api/v1.2/", alertname: "Disk*" }',
  'mention: ["slack:group:S0SRE", "slack:T1:U07"]',
])("what is right is taken: %s", async (fields) => {
  const { values } = await load(route(fields), SLACK);
  expect(settingsOf(alertsPart, values).routes).toHaveLength(1);
});

test("windows of maintenance are read by the same form", async () => {
  const [first = ""] = await mistakes(
    'alerts:\n  maintenance:\n    - { name: a, cron: "0 2 * * *", minutes: 5, match: { service: "a|b" } }\n',
  );
  expect(first).toMatch(
    /alerts\.maintenance\[0\]\.match\.service.*: looks like a regular expression/,
  );
});

test("a channel of a chat that is not configured is a mistake where another one is", async () => {
  const yaml = route("triage: true", "discord:1122:3344");
  expect(await mistakes(yaml, SLACK)).toEqual([
    "watchkeeper.yaml:3:7: alerts.routes[0].channel is on Discord, which is not configured; name a channel of Slack, or set what Discord needs",
  ]);
  expect(await mistakes(yaml)).toEqual([]);
  expect(await mistakes(yaml, { DISCORD_TOKEN: "MTIz.hidden.abcdefghijklmnop" })).toEqual([]);
  expect(await mistakes(route("triage: true", "ops"), SLACK)).toEqual([
    expect.stringMatching(/^watchkeeper\.yaml:3:7: alerts\.routes\[0\]\.channel: expected/),
  ]);
});
