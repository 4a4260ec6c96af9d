import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { transportOf } from "../../src/core/journal-key.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { runInBackground } from "../../src/worker/background.ts";
import type { Folded, JournalContext, KeyHandler } from "../../src/worker/key-handler.ts";
import { append } from "../../src/worker/store.ts";
import { createWorker } from "../../src/worker/worker.ts";

const KEY: JournalKey = "counter:a";

/** Counts what is posted, and writes down each count once. */
interface Count extends Folded {
  posted: number;
  written: number;
}

type CountContext = JournalContext<Count>;

/** `crashAt`: the step that takes its worker down, as long as it is in the set. */
function counter(
  crashAt = new Set<number>(),
  away = false,
): KeyHandler<CountContext, { do: "count"; next: number }> {
  return {
    isShared: true,
    serves: () => !away,
    empty: () => ({ last: 0, head: undefined, newer: undefined, posted: 0, written: 0 }),
    fold(state, entries) {
      for (const entry of entries) {
        if (entry.kind === "newer") {
          state.newer = entry;
          return;
        }
        Object.assign(state, { last: entry.seq, head: entry.head });
        if (entry.kind === "signal") state.posted += 1;
        if (entry.kind === "notice") state.written += 1;
      }
    },
    open: () => ({}),
    next: ({ state }, { now, busy }) =>
      state.written < state.posted && !busy.has("count")
        ? { do: "count", next: state.written + 1 }
        : { do: "wait", until: state.posted === 0 ? undefined : now + 60_000 },
    async execute(ctx, { next }) {
      if (crashAt.has(next)) throw new Error("killed");
      runInBackground(ctx, { key: "count", run: undefined, kept: false }, async () => async () => {
        await append(ctx, [{ id: `count:${next}`, kind: "notice", text: `${next}` }]);
      });
    },
    park: async () => {},
  };
}

async function stage(handler: KeyHandler = counter()) {
  const clock = { now: 1_000_000 };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const wakes: number[] = [];
  const parts = {
    journal,
    log: pino({ level: "silent" }),
    leaseMs: 2_000,
    wakeAt: (_: JournalKey, at: number) => void wakes.push(at),
  };
  const workerOf = (of: KeyHandler) =>
    createWorker(parts, (key) => (transportOf(key) === "counter" ? of : undefined));
  return { clock, journal, wakes, workerOf, worker: workerOf(handler) };
}

const say = (journal: Journal, id: string, key = KEY) =>
  journal.post(key, { id, kind: "signal", call: id, outcome: "ok", text: id });

const written = async (journal: Journal) =>
  (await journal.read(KEY)).flatMap((entry) => (entry.kind === "notice" ? [entry.text] : []));

async function dueIn(keys: AsyncIterable<JournalKey>): Promise<JournalKey[]> {
  const found: JournalKey[] = [];
  for await (const key of keys) found.push(key);
  return found;
}

test("a kind of journal that is no thread is leased, folded, worked on and given back until it is due again", async () => {
  const { clock, journal, worker, wakes } = await stage();
  await say(journal, "one");
  await say(journal, "two");
  await worker.work(KEY);
  expect(await written(journal)).toEqual(["1", "2"]);
  expect(await dueIn(worker.due("here"))).toEqual([]);
  expect(wakes).toHaveLength(1);
  for await (const { leased, dueAt } of journal.list({ prefix: KEY })) {
    expect({ leased, dueAt }).toEqual({ leased: false, dueAt: clock.now + 60_000 });
  }
  await say(journal, "three");
  expect(await dueIn(worker.due("here"))).toEqual([KEY]);
  await worker.work(KEY);
  expect(await written(journal)).toEqual(["1", "2", "3"]);
});

test("its next worker goes on where one that died had got to, once the lease has run out", async () => {
  const crashAt = new Set([2]);
  const { clock, journal, worker, workerOf } = await stage(counter(crashAt));
  await say(journal, "one");
  await say(journal, "two");
  await expect(worker.work(KEY)).rejects.toThrow("killed");
  expect(await written(journal)).toEqual(["1"]);
  const next = workerOf(counter());
  await next.work(KEY);
  expect(await written(journal)).toEqual(["1"]);
  clock.now += 2_000;
  expect(await dueIn(next.due("here"))).toEqual([KEY]);
  await next.work(KEY);
  expect(await written(journal)).toEqual(["1", "2"]);
});

test("one whose work crashed twice is parked the way its kind says", async () => {
  const crashAt = new Set([1]);
  const parked: number[] = [];
  const handler = {
    ...counter(crashAt),
    park: async ({ attempts }: JournalContext) => void parked.push(attempts),
  };
  const { clock, journal, worker } = await stage(handler);
  await say(journal, "one");
  for (let crashes = 0; crashes < 2; crashes += 1) {
    await expect(worker.work(KEY)).rejects.toThrow("killed");
    clock.now += 2_000;
  }
  expect(parked).toEqual([]);
  crashAt.clear();
  await worker.work(KEY);
  expect(parked).toEqual([3]);
  expect(await written(journal)).toEqual(["1"]);
});

test("of what is due a process finds only the kinds that it knows and can serve now", async () => {
  const { journal, worker, workerOf } = await stage();
  await say(journal, "one");
  await say(journal, "one", "unknown:a");
  expect(await dueIn(worker.due("here"))).toEqual([KEY]);
  expect(await dueIn(workerOf(counter(new Set(), true)).due("here"))).toEqual([]);
  await worker.work("unknown:a");
  expect(await journal.read("unknown:a")).toHaveLength(1);
  for await (const { leased } of journal.list({ prefix: "unknown:" })) expect(leased).toBe(false);
});
