import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { alertOf } from "../../src/alerts/alert.ts";
import { alertsKey, createAlertsHandler, type OpenThread } from "../../src/alerts/handler.ts";
import type { Draft, Entry } from "../../src/core/entry.ts";
import { BotError } from "../../src/core/errors.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
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
  const handler = createAlertsHandler({
    openerOf: (transport) => (transport === "slack" ? open : undefined),
    encode: (text) => text.replaceAll("hunter2", "•••"),
    wake: (key) => void woken.push(key),
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
  const { journal, channel, tries, woken, say, states, workerOf } = stage();
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
