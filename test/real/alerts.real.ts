import { once } from "node:events";
import { writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { onDiscord, onSlack } from "../app/agents-chat.ts";
import { Program } from "../fakes/program.ts";
import { RedisServer } from "../fakes/redis-server.ts";
import { closedPort } from "../tools/network/servers.ts";
import { until } from "../until.ts";
import { startMetrics } from "./metrics.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const TOKEN = "0123456789abcdef";
const SECRET = "a secret of the alerts, 32 long or more";

/** The program with a route of all alerts into the channel, and its address; several share a store. */
async function serve(channel: string, env: Record<string, string>) {
  const port = await closedPort();
  const program = new Program({
    ...env,
    ALERTS_TOKEN: TOKEN,
    PORT: String(port),
    LISTEN_HOST: "127.0.0.1",
  });
  ends.push(() => program.remove());
  const yaml = `alerts: { routes: [{ channel: "${channel}" }] }\n`;
  writeFileSync(join(program.folder, "watchkeeper.yaml"), yaml, { mode: 0o600 });
  const url = `http://127.0.0.1:${port}`;
  const isUp = async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok === true;
  async function start() {
    const child = program.start();
    await until(isUp);
    return async () => {
      const gone = once(child, "close");
      child.kill("SIGKILL");
      await gone;
    };
  }
  const send = async (name: string, status = "firing") =>
    fetch(`${url}/alerts/alertmanager`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({ alerts: [{ status, labels: { alertname: name }, annotations: {} }] }),
    });
  return { url, start, send };
}

test("a real Prometheus fires on a target that is gone: Alertmanager's word reaches a thread, and its end too", async () => {
  const chat = await onSlack();
  const { url, start } = await serve(chat.channel, chat.env);
  await start();
  const to = { url: `${url}/alerts/alertmanager`, token: TOKEN };
  const metrics = await startMetrics(to);
  ends.push(() => metrics.close());
  await until(() => chat.shown().some((text) => text.includes("gone does not answer")));
  const isOver = () => chat.shown().some((text) => text.includes("✅"));
  expect(isOver()).toBe(false);
  const back = http.createServer((_, response) => response.end("works 1\n"));
  back.listen(metrics.gone, "127.0.0.1");
  await once(back, "listening");
  ends.push(() => back.close());
  await until(isOver);
  expect(chat.shown().filter((text) => text.startsWith("🔥 TargetDown"))).toHaveLength(1);
}, 120_000);

test.each([
  ["Slack", onSlack],
  ["Discord", onDiscord],
])(
  "%s: two processes on one Redis, one is killed once it has accepted: each alert gets one thread",
  async (_, on) => {
    const chat = await on();
    const redis = await RedisServer.start("--appendonly", "yes", "--appendfsync", "always");
    ends.push(() => redis.stop());
    const env = { ...chat.env, REDIS_URL: `unix://${redis.path}`, WATCHKEEPER_SECRET: SECRET };
    const [first, second] = [await serve(chat.channel, env), await serve(chat.channel, env)];
    const [killFirst] = [await first.start(), await second.start()];
    const names = Array.from({ length: 6 }, (__, i) => `Alert${i}-fails`);
    const replies = await Promise.all(
      names.flatMap((name) => [first.send(name), second.send(name)]),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]));
    await killFirst();
    const missing = () => names.filter((name) => !chat.shown().some((text) => text.includes(name)));
    await until(() => missing().length === 0);
    const openings = chat.shown().map((text) => text.replaceAll("\\", ""));
    for (const name of names)
      expect(openings.filter((text) => text === `🔥 ${name}`)).toHaveLength(1);
  },
  120_000,
);

test("on SQLite: a process that is killed once it has accepted gives each alert its one thread when it is back", async () => {
  const chat = await onSlack();
  const { start, send } = await serve(chat.channel, chat.env);
  const kill = await start();
  const names = ["DiskFull", "CpuHigh", "NetSlow"];
  const replies = await Promise.all(names.map(async (name) => send(name)));
  expect(replies.map(({ status }) => status)).toEqual([202, 202, 202]);
  await kill();
  await start();
  await until(() => names.every((name) => chat.shown().includes(`🔥 ${name}`)));
  for (const name of names)
    expect(chat.shown().filter((text) => text === `🔥 ${name}`)).toHaveLength(1);
}, 120_000);
