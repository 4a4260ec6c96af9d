import { setTimeout } from "node:timers/promises";
import { createHmac } from "node:crypto";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { startHttpServer } from "../../src/app/http.ts";
import { pagerDutySigned } from "../../src/alerts/signatures.ts";
import { alertmanager } from "../../src/alerts/sources/alertmanager.ts";
import { pagerduty } from "../../src/alerts/sources/pagerduty.ts";
import { alertsPart } from "../../src/config/alerts.ts";
import { AlertsState, foldAlerts } from "../../src/alerts/state.ts";
import { createAlertRoutes } from "../../src/alerts/webhooks.ts";
import { BotError } from "../../src/core/errors.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";

const TOKEN = "0123456789abcdef";
const ROUTES = alertsPart.settings.parse({
  routes: [
    { match: { severity: "critical" }, channel: "slack:T1:C1", triage: true },
    { match: { alertname: ["Disk*", "Inode*"] }, channel: "slack:T1:C2" },
  ],
  sources: {},
}).routes;

/** `refused`: an alert of that name no store takes. */
async function stage(isAway = () => false, refused = "") {
  const journal = openMemoryJournal();
  const woken: JournalKey[] = [];
  const clock = { now: 1_000_000_000 };
  const routes = createAlertRoutes({
    sources: [alertmanager, pagerduty],
    token: TOKEN,
    signed: new Map([["pagerduty", async (request) => pagerDutySigned(request, "secret")]]),
    routes: ROUTES,
    journal: {
      post: async (key, draft) => {
        await setTimeout(20); // as a store's answer takes a moment, so that requests wait for each other
        if (isAway()) throw new BotError("STORE_UNAVAILABLE", "away");
        if (draft.kind === "alert" && draft.alerts.some(({ name }) => name === refused))
          throw new BotError("ENTRY_INVALID", "it is not of its form");
        return journal.post(key, draft);
      },
      flush: (key, after) => journal.flush(key, after),
    },
    wake: (key) => void woken.push(key),
    log: pino({ level: "silent" }),
    now: () => clock.now,
  });
  const log = pino({ level: "silent" });
  const server = await startHttpServer({ routes, port: 0, host: "127.0.0.1", log });
  onTestFinished(async () => {
    await server.stop();
    await journal.close();
  });
  const send = async (
    body: unknown,
    headers: Record<string, string> = {},
    path = "alertmanager",
  ) => {
    const reply = await fetch(`http://127.0.0.1:${server.port}/alerts/${path}`, {
      method: "POST",
      headers,
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return { status: reply.status, text: await reply.text(), headers: reply.headers };
  };
  return { journal, woken, clock, send };
}

const bearer = { authorization: `Bearer ${TOKEN}` };
const alert = (name: string, labels: Record<string, string> = {}, status = "firing") => ({
  status,
  labels: { alertname: name, ...labels },
  annotations: {},
});

test("alerts are kept in the journal of the channel that their route names, before the answer", async () => {
  const { journal, woken, send } = await stage();
  const alerts = [alert("Cpu", { severity: "critical" }), alert("DiskFull"), alert("Other")];
  const reply = await send({ alerts, truncatedAlerts: 4 }, bearer);
  expect(reply.status).toBe(202);
  expect(JSON.parse(reply.text)).toEqual({ kept: 2, unrouted: 1 });
  const [first] = await journal.read("alerts:slack:T1:C1");
  expect(first).toMatchObject({
    kind: "alert",
    source: "alertmanager",
    left: 4,
    triage: true,
    rule: { groupBy: ["cluster", "namespace", "service", "job"], windowMs: 600_000 },
    alerts: [{ name: "Cpu", labels: { severity: "critical" } }],
  });
  expect(await journal.read("alerts:slack:T1:C2")).toMatchObject([
    { alerts: [{ name: "DiskFull" }] },
  ]);
  expect(woken).toEqual(expect.arrayContaining(["alerts:slack:T1:C1", "alerts:slack:T1:C2"]));
});

test("the same request again is kept once; the same words later are a repeat", async () => {
  const { journal, clock, send } = await stage();
  const body = { alerts: [alert("DiskFull")] };
  await send(body, bearer);
  await send(body, bearer);
  expect(await journal.read("alerts:slack:T1:C2")).toHaveLength(1);
  clock.now += 5 * 60_000;
  await send(body, bearer);
  expect(await journal.read("alerts:slack:T1:C2")).toHaveLength(2);
});

test("a label that no object may have loses no alert of its request", async () => {
  const { journal, send } = await stage();
  const odd = JSON.stringify(alert("InodesOdd")).replace(
    '"labels":{',
    '"labels":{"__proto__":"x",',
  );
  const body = `{"alerts":[${JSON.stringify(alert("DiskFull"))},${odd}]}`;
  expect(await send(body, bearer)).toMatchObject({ status: 202 });
  const kept = JSON.stringify(await journal.read("alerts:slack:T1:C2"));
  expect(kept).toContain("DiskFull");
  expect(kept).toContain("InodesOdd");
  expect(kept).not.toContain("__proto__");
});

test.each([
  ["no token", {}, 401],
  ["a wrong one", { authorization: "Bearer 0123456789abcdeF" }, 401],
  ["another scheme", { authorization: TOKEN }, 401],
])("with %s nothing is kept", async (_, headers, status) => {
  const { journal, send } = await stage();
  const reply = await send({ alerts: [alert("DiskFull")] }, headers);
  expect(reply.status).toBe(status);
  expect(await journal.read("alerts:slack:T1:C2")).toEqual([]);
});

test.each([
  ["[]", "This is no request of alertmanager's: the body takes an object, not a list."],
  ['{"alerts":1}', "This is no request of alertmanager's: alerts takes a list, not a number."],
  ["firing", "The body is not JSON, or nests deeper than 32."],
])("what is no such request is told why: %s", async (body, why) => {
  const { send } = await stage();
  expect(await send(body, bearer)).toMatchObject({ status: 400, text: `${why}\n` });
});

test("a source's own signature is as good as the token", async () => {
  const { send } = await stage();
  const body = JSON.stringify({
    event: { id: "e1", event_type: "pagey.ping", data: { type: "ping" } },
  });
  const sign = (secret: string) => ({
    "x-pagerduty-signature": `v1=${createHmac("sha256", secret).update(body).digest("hex")}`,
  });
  expect((await send(body, sign("secret"), "pagerduty")).status).toBe(202);
  expect((await send(body, sign("other"), "pagerduty")).status).toBe(401);
});

test("while the store is away the sender is asked to come again", async () => {
  const { send } = await stage(() => true);
  const reply = await send({ alerts: [alert("DiskFull")] }, bearer);
  expect(reply.status).toBe(503);
  expect(reply.headers.get("retry-after")).toBe("5");
});

test("what comes at once stands in few entries, in order; a request that is sent again counts once", async () => {
  const { journal, send } = await stage();
  const bodies = Array.from({ length: 60 }, (_, i) => ({
    alerts: [alert("DiskFull", { instance: `i${i}` })],
  }));
  const replies = await Promise.all(bodies.map(async (body) => send(body, bearer)));
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]));
  await Promise.all(bodies.toReversed().map(async (body) => send(body, bearer)));
  const entries = await journal.read("alerts:slack:T1:C2");
  expect(entries.length).toBeLessThan(60);
  const state = new AlertsState();
  foldAlerts(state, entries);
  const [group] = state.groups.open.values();
  expect(group?.members.size).toBe(60);
  expect([...(group?.members.values() ?? [])].map(({ told }) => told)).toEqual(
    Array.from({ length: 60 }, () => 1),
  );
});

test("a store that fails while many wait tells each of them to come again", async () => {
  let isAway = false;
  const { journal, send } = await stage(() => isAway);
  isAway = true;
  const bodies = Array.from({ length: 20 }, (_, i) => ({ alerts: [alert(`Disk${i}`)] }));
  const replies = await Promise.all(bodies.map(async (body) => send(body, bearer)));
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([503]));
  isAway = false;
  await Promise.all(bodies.map(async (body) => send(body, bearer)));
  const entries = await journal.read("alerts:slack:T1:C2");
  expect(entries.flatMap((entry) => (entry.kind === "alert" ? entry.alerts : []))).toHaveLength(20);
});

test("a piece that can never be kept is refused alone, and what waited with it is kept", async () => {
  const { journal, send } = await stage(undefined, "DiskOdd");
  const odd = { alerts: [alert("DiskOdd")] };
  const others = Array.from({ length: 10 }, (_, i) => ({ alerts: [alert(`Disk${i}`)] }));
  // While the first is being kept all others wait, for one entry.
  const replies = await Promise.all(
    [{ alerts: [alert("DiskFirst")] }, ...others.slice(0, 5), odd, ...others.slice(5)].map(
      async (body) => send(body, bearer),
    ),
  );
  expect(replies.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 6 }, () => 202),
    400,
    ...Array.from({ length: 5 }, () => 202),
  ]);
  expect(replies[6]?.text).toBe("These alerts cannot be kept: it is not of its form\n");
  const entries = await journal.read("alerts:slack:T1:C2");
  const names = entries.flatMap((entry) =>
    entry.kind === "alert" ? entry.alerts.map(({ name }) => name) : [],
  );
  expect(names.toSorted()).toEqual(["DiskFirst", ...others.map((_, i) => `Disk${i}`)].toSorted());
});

test("who has the token is told which sources there are; nobody else learns whether there is one", async () => {
  const { send } = await stage();
  const known = await send({}, {}, "alertmanager");
  const unknown = await send({}, {}, "nosuch");
  expect([unknown.status, unknown.text]).toEqual([known.status, known.text]);
  expect(unknown.status).toBe(401);
  const told = await send({}, bearer, "nosuch");
  expect([told.status, told.text]).toEqual([
    404,
    "There is no such source of alerts. There are alertmanager, pagerduty; others need a mapping in alerts.sources.\n",
  ]);
});
