import { fork } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { pino } from "pino";
import { alertsKey, createAlertsHandler } from "../src/alerts/handler.ts";
import { alertsPart } from "../src/config/alerts.ts";
import { alertmanager } from "../src/alerts/sources/alertmanager.ts";
import { createAlertRoutes } from "../src/alerts/webhooks.ts";
import { startHttpServer } from "../src/app/http.ts";
import type { HttpRoute } from "../src/core/http-route.ts";
import type { JournalKey } from "../src/core/journal-key.ts";
import type { Journal } from "../src/journal/journal.ts";
import { openRedisJournal } from "../src/journal/redis/journal.ts";
import { createInProcessWakeups } from "../src/wakeups/in-process.ts";
import { createWorker } from "../src/worker/worker.ts";
import { RedisServer } from "../test/fakes/redis-server.ts";
import type { Figure } from "./journal.ts";

/** Alerts by HTTP on Redis: how many are taken durably, beside a bare server that only pings Redis, and what a storm comes to. */

const TOKEN = "0123456789abcdef";
const CHANNEL = "slack:T1:C1";
const REQUESTS = 20_000;
const [CAUSES, EACH] = [20, 500];
const CONNECTIONS = 50;
const log = pino({ level: "silent" });

/** What a process of its own measured: a request each, over as many connections as there may be at once. */
interface Load {
  perSecond: number;
  p50: number;
  p99: number;
  statuses: Record<string, number>;
}

const bodyOf = (cause: number, instance: number) =>
  JSON.stringify({
    version: "4",
    groupLabels: { alertname: `Cause${cause}` },
    alerts: [
      {
        status: "firing",
        labels: {
          alertname: `Cause${cause}`,
          severity: "critical",
          service: `service-${cause}`,
          instance: `10.0.${cause}.${instance}:9100`,
        },
        annotations: { summary: `Cause ${cause} on ${instance}`, description: "for 5 minutes" },
        startsAt: "2026-11-20T10:00:00Z",
      },
    ],
  });

/** In the process that loads. */
export async function loadAlerts(port: number, count: number): Promise<Load> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const times: number[] = [];
  const statuses: Record<string, number> = {};
  let next = 0;
  async function send(index: number): Promise<void> {
    const body = bodyOf(index % CAUSES, Math.floor(index / CAUSES));
    const began = performance.now();
    const headers = { authorization: `Bearer ${TOKEN}`, "content-length": Buffer.byteLength(body) };
    const request = http.request({
      port,
      host: "127.0.0.1",
      path: "/alerts/alertmanager",
      method: "POST",
      agent,
      headers,
    });
    request.end(body);
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    response.resume();
    await once(response, "end");
    times.push(performance.now() - began);
    const status = String(response.statusCode);
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  const began = performance.now();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (next < count) await send(next++);
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  agent.destroy();
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { perSecond: count / seconds, p50: at(0.5), p99: at(0.99), statuses };
}

async function load(routes: readonly HttpRoute[], count: number): Promise<Load> {
  const server = await startHttpServer({ routes, port: 0, host: "127.0.0.1", log });
  try {
    return await loadFrom(server.port, count);
  } finally {
    await server.stop();
  }
}

async function loadFrom(port: number, count: number): Promise<Load> {
  const argv = ["alerts-load", String(port), String(count)];
  const child = fork(join(import.meta.dirname, "main.ts"), argv, { silent: true });
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await once(child, "close");
  return JSON.parse(text) as Load;
}

/** Node's own server, which reads the body and pings Redis. */
async function loadBare({ path }: RedisServer, count: number): Promise<Load> {
  const client = new Redis({ path });
  const server = http.createServer((request, response) => {
    request.resume().on("end", () => {
      void client.ping().then(() => response.writeHead(202).end());
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  try {
    return await loadFrom(typeof address === "object" ? (address?.port ?? 0) : 0, count);
  } finally {
    server.closeAllConnections();
    server.close();
    client.disconnect();
  }
}

function routesOf(journal: Journal, wake: (key: JournalKey) => void): HttpRoute[] {
  const { routes } = alertsPart.settings.parse({
    routes: [{ channel: CHANNEL }],
    sources: {},
    maintenance: [],
  });
  const sources = [alertmanager];
  return createAlertRoutes({
    sources,
    token: TOKEN,
    signed: new Map(),
    routes,
    journal,
    wake,
    log,
  });
}

const shown = ({ perSecond, p50, p99 }: Load) =>
  `${Math.round(perSecond)}/s, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`;

export async function alertsFigures(): Promise<Figure[]> {
  const redis = await RedisServer.start("--appendonly", "yes", "--appendfsync", "everysec");
  const journal = await openRedisJournal({ address: redis.address, secret: "bench" });
  try {
    const ours = routesOf(journal, () => {});
    // Each warms up once; then turn by turn, as the machine's other work comes and goes.
    await loadBare(redis, 2_000);
    await load(ours, 2_000);
    const all: { bare: Load; ours: Load }[] = [];
    for (let round = 0; round < 3; round++)
      all.push({ bare: await loadBare(redis, REQUESTS), ours: await load(ours, REQUESTS) });
    const best = all.toSorted(
      (a, b) => a.ours.perSecond / a.bare.perSecond - b.ours.perSecond / b.bare.perSecond,
    )[1];
    if (best === undefined) throw new Error("nothing was measured");
    const ratio = (best.ours.perSecond / best.bare.perSecond).toFixed(2);
    return [
      { name: "alerts taken, Redis everysec, 50 connections", value: shown(best.ours) },
      { name: "a bare server that only pings Redis", value: shown(best.bare) },
      { name: "ratio (median of 3 rounds; aim ≥ 0.5)", value: ratio },
      ...(await stormFigures(journal)),
    ];
  } finally {
    await journal.close();
    await redis.stop();
  }
}

/** 10 000 alerts of 20 causes, a request each, while a worker gives them threads. */
async function stormFigures(journal: Journal): Promise<Figure[]> {
  const key = alertsKey("slack:T1:C2");
  const threads: JournalKey[] = [];
  const handler = createAlertsHandler({
    openerOf: () => async () => {
      await sleep(100);
      threads.push(`slack:T1:C2:${threads.length}.0`);
      return threads.at(-1) ?? key;
    },
    encode: (text) => text,
    wake: () => {},
    tellOps: async () => {},
  });
  const parts = { journal, log, leaseMs: 6_000 };
  const worker = createWorker(
    { ...parts, wakeAt: (woken, at) => wakeups.wake(woken, at) },
    (woken) => (woken === key ? handler : undefined),
  );
  const wakeups = createInProcessWakeups({
    due: () => worker.due("bench"),
    onError: (error) => {
      throw error;
    },
  });
  const running = wakeups.start(worker.work);
  const took: Record<string, number>[] = [];
  const { routes } = alertsPart.settings.parse({
    routes: [{ channel: "slack:T1:C2" }],
    sources: {},
    maintenance: [],
  });
  const served = createAlertRoutes({
    sources: [alertmanager],
    token: TOKEN,
    signed: new Map(),
    routes,
    journal,
    wake: (woken) => wakeups.wake(woken),
    log,
  });
  const began = performance.now();
  const { statuses, p99, perSecond } = await load(served, CAUSES * EACH);
  took.push(statuses);
  const tellings = await toldOf(journal, threads, CAUSES * EACH);
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  await running.stop();
  await worker.stop(1_000);
  if (threads.length > 25 || tellings.counted !== CAUSES * EACH)
    throw new Error(
      `${threads.length} threads, ${tellings.counted} alerts, ${JSON.stringify(took)}`,
    );
  const name = "a storm of 10 000 alerts from 20 causes, a request each";
  const value = `${threads.length} threads, ${CAUSES * EACH - tellings.counted} lost, ${tellings.words} words in them; ${Math.round(perSecond)}/s, p99 ${p99.toFixed(0)} ms; all told after ${seconds} s`;
  return [{ name, value }];
}

/** What the threads were told, once all alerts are among it; at most for two minutes. */
async function toldOf(journal: Journal, threads: readonly JournalKey[], wanted: number) {
  let [counted, words] = [0, 0];
  for (const until = Date.now() + 120_000; Date.now() < until; await sleep(250)) {
    [counted, words] = [0, 0];
    for (const thread of threads) {
      const states = (await journal.read(thread)).filter((each) => each.kind === "alert_state");
      words += states.length;
      counted += Math.max(0, ...states.map(({ told }) => told));
    }
    if (counted >= wanted) break;
  }
  return { counted, words };
}
