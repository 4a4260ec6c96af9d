import { expect, test } from "vitest";
import type { Bot } from "../../src/app/assemble.ts";
import { examineAlerts } from "../../src/app/cli/examine-alerts.ts";
import { loadPlatforms } from "../../src/app/platforms.ts";
import type { Config } from "../../src/config/config.ts";
import type { Entry } from "../../src/core/entry.ts";
import { tryJournalKey } from "../../src/core/journal-key.ts";
import { until } from "../until.ts";
import { onDiscord, onSlack } from "./agents-chat.ts";
import { alertsStage, log, sendTo, TOKEN } from "./alerts-stage.ts";

interface Chat {
  env: Record<string, string>;
  channel: string;
  shown(): string[];
  lose?(): void;
}

/** A program with a route of all alerts into the chat's channel, and who sends it some. */
async function stage(chat: Chat, alerts?: string) {
  const { start, config } = await alertsStage(chat, alerts);
  return {
    config,
    async start() {
      const { bot, at } = await start();
      const send = (body: unknown, source = "alertmanager", token = TOKEN) =>
        sendTo(at(`/alerts/${source}`), JSON.stringify(body), { authorization: `Bearer ${token}` });
      return { bot, send };
    },
  };
}

/** What doctor says of alerts. */
async function linesOf(config: Config): Promise<string[]> {
  const lines: string[] = [];
  for await (const { state, text } of examineAlerts(config, await loadPlatforms(config, log)))
    lines.push(`${state} ${text}`);
  return lines;
}

test("doctor names a mapping and a window that are none, and a group that waits for its thread", async () => {
  const chat = await onSlack();
  const wrong = await stage(chat, `  sources: { uptime: { mapping: "{" } }\n`);
  expect(await linesOf(wrong.config)).toContainEqual(
    expect.stringContaining("broken alerts.sources.uptime.mapping: "),
  );
  const { start, config } = await stage(chat);
  const { send, bot } = await start();
  chat.lose();
  await send({ alerts: [alert("HighCpu")] });
  await until(async () =>
    (await linesOf(config)).some((line) => line.startsWith("broken 1 group")),
  );
  expect((await bot.journal.read(`alerts:${chat.channel}`)).length).toBe(1);
});

const alert = (name: string, status = "firing") => ({
  status,
  labels: { alertname: name, severity: "critical" },
  annotations: { summary: `${name} is bad` },
});

/** How the group's thread was told that it stands, newest last. */
async function statesIn({ journal }: Bot, channel: string): Promise<Entry<"alert_state">[]> {
  const entries = await journal.read(`alerts:${channel}`);
  const threads = entries.flatMap((entry) => (entry.kind === "alert_thread" ? entry.thread : []));
  const all = await Promise.all(
    threads.map(async (thread) => {
      const key = tryJournalKey(thread);
      return key === undefined ? [] : journal.read(key);
    }),
  );
  return all.flat().filter((entry) => entry.kind === "alert_state");
}

test.each([
  ["Slack", onSlack],
  ["Discord", onDiscord],
])("%s: an alert that comes by HTTP gets one thread, which is told how it ends", async (_, on) => {
  const chat = await on();
  const { start } = await stage(chat);
  const { bot, send } = await start();
  expect((await send({ alerts: [alert("HighCpu")] })).status).toBe(202);
  await until(() => chat.shown().some((text) => text.includes("HighCpu is bad")));
  expect((await send({ alerts: [alert("HighCpu", "resolved")] })).status).toBe(202);
  await until(async () => {
    const states = await statesIn(bot, chat.channel);
    return states.at(-1)?.overAt !== undefined;
  });
  expect(chat.shown().filter((text) => text.includes("HighCpu: HighCpu is bad"))).toHaveLength(1);
  expect((await send({ alerts: [alert("Disk")] }, "alertmanager", "wrong")).status).toBe(401);
  expect((await send({}, "nosuch")).status).toBe(404);
});

test("a system with a mapping is read by it, and a mistake in it is refused with its reason", async () => {
  const chat = await onSlack();
  const mapping = `  sources: { uptime: { mapping: '{ "name": monitor, "status": up ? "resolved" : "firing", "labels": { "url": $uppercase(url) } }' } }\n`;
  const { start, config } = await stage(chat, mapping);
  const { bot, send } = await start();
  expect(await send({ monitor: "Shop", up: false, url: "http://a" }, "uptime")).toMatchObject({
    status: 202,
  });
  expect(await bot.journal.read(`alerts:${chat.channel}`)).toMatchObject([
    { source: "uptime", alerts: [{ name: "Shop", status: "firing", labels: { url: "HTTP://A" } }] },
  ]);
  const wrong = await send({ monitor: "Shop", up: false, url: 5 }, "uptime");
  expect(wrong.status).toBe(400);
  expect(wrong.text).toMatch(/^The mapping of uptime: .*uppercase/);
  expect((await send([], "uptime")).status).toBe(400);
  await until(async () =>
    (await linesOf(config)).some((line) => line.includes("2 requests could")),
  );
  const lines = await linesOf(config);
  expect(lines).toContainEqual(
    expect.stringMatching(/^ok 1 route; on port 3000: .*\/alerts\/uptime/),
  );
  expect(lines).toContainEqual(
    expect.stringContaining("from uptime: The mapping of uptime: it makes"),
  );
});
