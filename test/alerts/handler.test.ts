import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { alertOf } from "../../src/alerts/alert.ts";
import { alertsKey, createAlertsHandler, type OpenThread } from "../../src/alerts/handler.ts";
import type { Draft, Entry } from "../../src/core/entry.ts";
import { BotError } from "../../src/core/errors.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { snapshots } from "../../src/alerts/snapshots.ts";
import { AlertsState, foldAlerts } from "../../src/alerts/state.ts";
import { createWorker } from "../../src/worker/worker.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";

const CHANNEL = "slack:T1:C1";
const KEY = alertsKey(CHANNEL);

function stage() {
  const clock = { now: 1_000_000 };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  /** What the channel shows, by the delivery that brought it. */
  const channel = new Map<string, JournalKey>();
  const tries: string[] = [];
  const trouble: (() => void)[] = [];
  const open: OpenThread = async (at, _text, delivery) => {
    tries.push(delivery.id);
    const thread = channel.get(delivery.id) ?? (`${at}:${channel.size + 1}.0` as const);
    channel.set(delivery.id, thread);
    trouble.shift()?.();
    return thread;
  };
  const woken: JournalKey[] = [];
  const ops: [id: string, text: string][] = [];
  const handler = createAlertsHandler({
    openerOf: (transport) => (transport === "slack" ? open : undefined),
    encode: (text) => text.replaceAll("hunter2", "•••"),
    wake: (key) => void woken.push(key),
    tellOps: async (id, text) => void ops.push([id, text]),
  });
  const parts = { journal, log: pino({ level: "silent" }), leaseMs: 2_000, wakeAt: () => {} };
  const workerOf = () => createWorker(parts, () => handler);
  let count = 0;
  return {
    clock,
    journal,
    channel,
    tries,
    trouble,
    woken,
    ops,
    workerOf,
    async say(names: readonly string[], more: Partial<Draft<"alert">> = {}, status = "firing") {
      count += 1;
      const alerts = names.map((name) => {
        const alert = alertOf({ name, status: status as "firing", labels: { instance: name } });
        return { ...alert, labels: { ...alert.labels }, links: undefined };
      });
      const rule = { groupBy: [], windowMs: 600_000 };
      const fields = { source: "alertmanager", alerts, rule, ...more };
      await journal.post(KEY, {
        id: `alert:${count}`,
        kind: "alert",
        ...JSON.parse(JSON.stringify(fields)),
      });
    },
    async states(thread: JournalKey): Promise<Entry<"alert_state">[]> {
      const entries = await journal.read(thread);
      return entries.filter((entry) => entry.kind === "alert_state");
    },
  };
}

test("a group gets one thread, which is told how it stands; then nothing is owed", async () => {
  const { clock, journal, channel, tries, woken, say, states, workerOf } = stage();
  await say(["Cpu", "Disk"], { triage: true });
  await workerOf().work(KEY);
  expect(tries).toEqual(["alerts:g1.0", "alerts:g1.1"]);
  const [cpu, disk] = [...channel.values()];
  if (cpu === undefined || disk === undefined) throw new Error("no threads");
  expect(await states(cpu)).toMatchObject([
    { group: "g1.0", name: "Cpu", firing: 1, told: 1, triage: true, alerts: [{ name: "Cpu" }] },
  ]);
  expect(woken).toEqual(expect.arrayContaining([cpu, disk]));

  await say(["Cpu"]);
  await say(["Cpu"], {}, "resolved");
  clock.now += 3_000;
  await workerOf().work(KEY);
  expect(tries).toHaveLength(2);
  expect((await states(cpu)).at(-1)).toMatchObject({ firing: 0, resolved: 1, told: 3 });
  expect((await states(cpu)).at(-1)?.overAt).toBeDefined();
  expect(await states(disk)).toHaveLength(1);
  for await (const summary of journal.list({ prefix: KEY }))
    expect(summary).toMatchObject({ leased: false, dueAt: undefined });
});

test("a bot's own message is its alert's thread", async () => {
  const { tries, say, states, workerOf } = stage();
  await say(["Cpu"], { own: "slack:T1:C1:17.5" });
  await say(["Cpu"], { own: "slack:T1:C1:18.5" });
  await workerOf().work(KEY);
  expect(tries).toEqual([]);
  expect(await states("slack:T1:C1:17.5")).toHaveLength(1);
  expect(await states("slack:T1:C1:18.5")).toEqual([]);
});

test("what the platform refuses is tried again", async () => {
  const { channel, tries, trouble, say, workerOf } = stage();
  trouble.push(() => {
    throw new BotError("PLATFORM_UNREACHABLE", "no answer");
  });
  await say(["Cpu"]);
  await workerOf().work(KEY);
  expect(tries).toHaveLength(1);
  await workerOf().work(KEY);
  expect(tries).toHaveLength(2);
  expect(channel.size).toBe(1);
});

test("whoever takes over from a worker that died finds the thread that it began", async () => {
  const { clock, channel, tries, trouble, say, states, workerOf } = stage();
  trouble.push(() => {
    throw new Error("killed");
  });
  await say(["Cpu"]);
  await expect(workerOf().work(KEY)).rejects.toThrow("killed");
  clock.now += 2_000;
  await workerOf().work(KEY);
  expect(tries).toEqual(["alerts:g1.0", "alerts:g1.0"]);
  expect(channel.size).toBe(1);
  const [thread] = channel.values();
  expect(await states(thread ?? KEY)).toHaveLength(1);
});

test("a thread is told at once of what is new, and seldom of what comes and goes", async () => {
  const { clock, channel, say, states, workerOf } = stage();
  const { work } = workerOf();
  const began = clock.now;
  for (let turn = 0; turn < 120; turn++) {
    await say(["Cpu"], {}, turn % 2 === 0 ? "firing" : "resolved");
    await work(KEY);
    clock.now += 30_000;
  }
  const [thread = KEY] = channel.values();
  expect(channel.size).toBe(1);
  // An hour of it: a few words until it is known to flap, then one in five minutes.
  expect((await states(thread)).length).toBeLessThan(22);
  clock.now = began + 2 * 3_600_000;
  await work(KEY);
  const last = (await states(thread)).at(-1);
  expect(last).toMatchObject({ again: 59, told: 120, resolved: 1 });
});

test("a group that flaps is told as such, and once more when it stays as it is, though nothing was said since", async () => {
  const { clock, channel, say, states, workerOf } = stage();
  const { work } = workerOf();
  const began = clock.now;
  for (let turn = 0; turn < 7; turn++) {
    await say(["Cpu"], {}, turn % 2 === 0 ? "firing" : "resolved");
    await work(KEY);
    clock.now += 60_000;
  }
  const [thread = KEY] = channel.values();
  clock.now += 5 * 60_000;
  await work(KEY);
  const flapping = (await states(thread)).at(-1);
  expect(flapping).toMatchObject({ firing: 1, flaps: { turns: 6, since: began + 60_000 } });
  clock.now += 10 * 60_000;
  await work(KEY);
  const calm = (await states(thread)).at(-1);
  expect(calm).toMatchObject({ firing: 1, last: flapping?.last, told: flapping?.told });
  expect(calm?.flaps).toBeUndefined();
  const count = (await states(thread)).length;
  clock.now += 3_600_000;
  await work(KEY);
  expect(await states(thread)).toHaveLength(count);
});

test("a request with several alerts of one group is one time that it was told of, also where several share an entry", async () => {
  const { clock, channel, say, states, workerOf } = stage();
  const rule = { groupBy: ["cluster"], windowMs: 600_000 };
  const two = (name: string) =>
    ["a", "b"].map((instance) => ({
      fingerprint: `${name}-${instance}`,
      status: "firing" as const,
      name: "Cpu",
      labels: { instance },
    }));
  await say([], { alerts: two("x"), rule, requests: [{ request: "r1", alerts: 2 }] });
  await workerOf().work(KEY);
  const [thread = KEY] = channel.values();
  expect((await states(thread)).at(-1)).toMatchObject({ firing: 2, told: 1 });
  const requests = ["r2", "r3"].map((request) => ({ request, alerts: 2 }));
  await say([], { alerts: [...two("x"), ...two("x")], rule, requests });
  clock.now += 60_000;
  await workerOf().work(KEY);
  expect((await states(thread)).at(-1)).toMatchObject({ firing: 2, told: 3 });
});

test("a channel without the bot: operations are told once, and it is tried again each minute", async () => {
  const { clock, channel, tries, trouble, ops, say, workerOf } = stage();
  const { work } = workerOf();
  const refuse = () => {
    throw new BotError("PLATFORM_REFUSED", "I am not in #alerts.", { refused: "place" });
  };
  trouble.push(refuse, refuse);
  await say(["Cpu", "Disk"]);
  await work(KEY);
  await say(["Net"]);
  await work(KEY);
  const first = tries.length;
  expect(first).toBeLessThanOrEqual(2);
  expect(new Set(ops.map(([id]) => id)).size).toBe(1);
  expect(ops[0]?.[1]).toContain("slack:T1:C1 none can be begun. I am not in #alerts. Cpu waits");
  clock.now += 61_000;
  trouble.length = 0;
  await work(KEY);
  expect(channel.size).toBe(3);
});

test("what still fires after its maintenance window gets its thread then; what ended does not", async () => {
  const { clock, channel, say, states, workerOf } = stage();
  const { work } = workerOf();
  const quiet = { window: "nightly", until: clock.now + 3_600_000 };
  await say(["Backup", "Disk"], { quiet, triage: true });
  await say(["Backup"], { quiet }, "resolved");
  await work(KEY);
  expect(channel.size).toBe(0);
  clock.now += 3_600_000;
  await work(KEY);
  expect(channel.size).toBe(1);
  const [thread = KEY] = channel.values();
  expect(await states(thread)).toMatchObject([{ name: "Disk", triage: true, firing: 1 }]);
});

test("a long journal is taken up from what was kept of it", async () => {
  const { journal, say, workerOf } = stage();
  for (let count = 0; count < 600; count++) await say([`Alert${count % 5}`]);
  await workerOf().work(KEY);
  const kept = await journal.snapshot(KEY, snapshots.version);
  expect(kept?.last).toBeGreaterThan(512);
  const state = snapshots.decode(kept?.bytes ?? new Uint8Array());
  const whole = new AlertsState();
  foldAlerts(
    whole,
    (await journal.read(KEY)).filter(({ seq }) => seq <= state.last),
  );
  expect(state).toEqual(whole);
  expect(state.groups.add).toBeTypeOf("function");
});

test("that a group begins to flap is told at once, not five minutes later", async () => {
  const { clock, channel, say, states, workerOf } = stage();
  const { work } = workerOf();
  for (let turn = 0; turn < 9; turn++) {
    await say(["Cpu"], {}, turn % 2 === 0 ? "firing" : "resolved");
    await work(KEY);
    clock.now += 4_000;
  }
  clock.now += 15_000;
  await work(KEY);
  const [thread = KEY] = channel.values();
  expect((await states(thread)).at(-1)?.flaps).toBeDefined();
});

test("what flaps and was told to be over is told to fire again at once; that it is over then may wait", async () => {
  const { clock, channel, say, states, workerOf } = stage();
  const { work } = workerOf();
  const turn = async (status: "firing" | "resolved", seconds: number) => {
    await say(["Cpu"], {}, status);
    await work(KEY);
    clock.now += seconds * 1_000;
    await work(KEY);
  };
  for (let i = 0; i < 9; i += 1) await turn(i % 2 === 0 ? "firing" : "resolved", 20);
  await turn("resolved", 300);
  const [thread = KEY] = channel.values();
  const newest = async () => (await states(thread)).at(-1);
  expect(await newest()).toMatchObject({ firing: 0, resolved: 1, flaps: { turns: 9 } });
  await turn("firing", 15);
  expect(await newest()).toMatchObject({ firing: 1, resolved: 0, flaps: { turns: 10 } });
  await turn("resolved", 200);
  expect(await newest()).toMatchObject({ firing: 1, flaps: { turns: 10 } });
});
