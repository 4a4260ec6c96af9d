import { createHmac } from "node:crypto";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { alertsPart } from "../../src/config/alerts.ts";
import { pagerDutySigned, sentrySigned } from "../../src/alerts/signatures.ts";
import { pagerduty } from "../../src/alerts/sources/pagerduty.ts";
import { sentry } from "../../src/alerts/sources/sentry.ts";
import { AlertsState, foldAlerts } from "../../src/alerts/state.ts";
import { createAlertRoutes } from "../../src/alerts/webhooks.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";

const NOW = Date.parse("2026-11-20T10:00:00Z");
const HOUR_MS = 3_600_000;
const KEY = "alerts:slack:T1:C1";
const { routes: ROUTES } = alertsPart.settings.parse({
  routes: [{ channel: "slack:T1:C1" }],
  sources: {},
});

/** A process, which remembers nothing of its own but what the store has. */
function startProcess(journal: Journal, clock: { now: number }, quiet = () => false) {
  const routes = createAlertRoutes({
    sources: [pagerduty, sentry],
    token: undefined,
    signed: new Map([
      ["pagerduty", async (request) => pagerDutySigned(request, "secret")],
      ["sentry", async (request) => sentrySigned(request, "secret")],
    ]),
    routes: ROUTES,
    maintenance: () => (quiet() ? { window: "night", until: clock.now + HOUR_MS } : undefined),
    journal,
    wake: () => {},
    log: pino({ level: "silent" }),
    now: () => clock.now,
  });
  return async (source: string, { body, headers }: ReturnType<typeof sentrys>) => {
    const route = routes.find(({ path }) => path === `/alerts/${source}`);
    return route?.handle({ headers, body, query: new URLSearchParams() });
  };
}

function stage(quiet?: () => boolean) {
  const journal = openMemoryJournal();
  onTestFinished(() => journal.close());
  const clock = { now: NOW };
  const toldOf = async () => {
    const state = new AlertsState();
    foldAlerts(state, await journal.read(KEY));
    return [...state.groups.open.values()]
      .flatMap(({ members }) => [...members.values()])
      .map(({ told }) => told);
  };
  const start = () => startProcess(journal, clock, quiet);
  return { journal, clock, start, toldOf, send: start() };
}

const hmac = (body: string) => createHmac("sha256", "secret").update(body).digest("hex");

/** As Sentry sends and signs it. `received`: s since 1970, by Sentry's clock. */
function sentrys({
  at = NOW,
  id = "e1",
  received,
}: { at?: number; id?: string; received?: number } = {}) {
  const event = { event_id: id, issue_id: "7", title: "TypeError: x", received };
  const body = JSON.stringify({ action: "triggered", data: { event, triggered_rule: "any" } });
  const headers: Record<string, string> = {
    "sentry-hook-signature": hmac(body),
    "sentry-hook-timestamp": `${at / 1_000}`,
  };
  return { body, headers };
}

function pagerdutys(at = NOW, id = "ev1") {
  const data = {
    type: "incident",
    id: "P1",
    title: "Database is down",
    status: "triggered",
  };
  const occurred_at = new Date(at).toISOString();
  const event = { id, event_type: "incident.triggered", occurred_at, data };
  const body = JSON.stringify({ event });
  return { body, headers: { "x-pagerduty-signature": `v1=${hmac(body)}` } };
}

test.each([
  ["sentry", sentrys(), sentrys({ id: "e2" })],
  ["pagerduty", pagerdutys(), pagerdutys(NOW, "ev2")],
] as const)(
  "%s: a signed request that is sent again counts once, however much later and whichever process takes it",
  async (source, request, other) => {
    const { clock, send, start, toldOf } = stage();
    expect(await send(source, request)).toEqual({
      status: 202,
      json: { kept: 1, unrouted: 0 },
    });
    for (const ms of [0, 6 * 60_000, 11 * 60_000, 2.5 * HOUR_MS]) {
      clock.now = NOW + ms;
      // Whoever took it down may change what is not signed.
      const again = {
        ...request,
        headers: { ...request.headers, "sentry-hook-timestamp": `${clock.now / 1_000}` },
      };
      expect(await start()(source, again)).toEqual({
        status: 200,
        json: { kept: 0, unrouted: 0, note: "This request was taken before; it counts once." },
      });
    }
    expect(await toldOf()).toEqual([1]);
    expect(await send(source, other)).toMatchObject({ status: 202 });
    expect(await toldOf()).toEqual([2]);
  },
);

test("a Sentry request counts once also where its header's time is made new days later", async () => {
  const { clock, send, toldOf } = stage();
  const request = sentrys();
  await send("sentry", request);
  clock.now = NOW + 72 * HOUR_MS;
  const headers = { ...request.headers, "sentry-hook-timestamp": `${clock.now / 1_000}` };
  expect(await send("sentry", { ...request, headers })).toMatchObject({ status: 200 });
  expect(await toldOf()).toEqual([1]);
});

test("a maintenance window that began meanwhile makes nothing new of a repeat", async () => {
  let isQuiet = false;
  const { journal, send } = stage(() => isQuiet);
  await send("pagerduty", pagerdutys());
  isQuiet = true;
  expect(await send("pagerduty", pagerdutys())).toMatchObject({ status: 200 });
  expect(await journal.read(KEY)).toHaveLength(1);
});

test.each([
  ["pagerduty", pagerdutys(NOW - 3 * HOUR_MS), 202],
  ["pagerduty", pagerdutys(NOW - 3 * HOUR_MS - 1_000), 400],
  ["sentry", sentrys({ at: NOW - 3 * HOUR_MS }), 202],
  ["sentry", sentrys({ at: NOW - 3 * HOUR_MS - 1_000 }), 400],
  // The header is not signed, the event's own time is.
  ["sentry", sentrys({ received: NOW / 1_000 - 4 * 3_600 }), 400],
  ["sentry", sentrys({ received: NOW / 1_000 - 60 }), 202],
] as const)(
  "%s: what was signed more than three hours ago is refused: %#",
  async (source, request, status) => {
    const { journal, send } = stage();
    const reply = await send(source, request);
    expect(reply?.status).toBe(status);
    expect(await journal.read(KEY)).toHaveLength(status === 202 ? 1 : 0);
    if (status === 400)
      expect(reply?.text).toMatch(
        /^It was signed .* ago: what is older than 3 h is not taken\.\n$/,
      );
  },
);

test("requests at once count once each, also where each is sent twice", async () => {
  const { send, start, toldOf } = stage();
  const all = Array.from({ length: 30 }, (_, i) => sentrys({ id: `e${i}` }));
  const other = start();
  const replies = await Promise.all([
    ...all.map(async (request) => send("sentry", request)),
    ...all.map(async (request) => other("sentry", request)),
  ]);
  const taken = replies.filter((reply) => reply?.status === 202);
  expect(taken).toHaveLength(30);
  expect(await toldOf()).toEqual([30]);
});
