import { expect, onTestFinished, test, vi } from "vitest";
import { createFigures, type FigureParts } from "../../src/app/figures.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";

const T0 = 1_780_000_000_000;
const LOAD = { slots: 64, busy: 0, held: 0, waiting: { people: 0, runs: 0, found: 0 } };

/** Figures of a process on a store whose clock a test moves. */
function stage(parts: Partial<FigureParts> = {}) {
  const clock = { now: T0 };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const say = async (key: JournalKey) =>
    journal.post(key, {
      id: "msg:1",
      kind: "message",
      actor: { account: "slack:T1:U1", name: "Ana" },
      text: "is web well?",
    });
  const figures = createFigures({
    journal,
    health: { whyNot: async () => undefined, connected: () => new Map([["slack", true]]) },
    host: "web-1",
    serves: (key) => key.startsWith("slack:"),
    load: () => LOAD,
    async *openActions() {},
    ...parts,
  });
  const read = async () => (await figures()).store;
  return { journal, clock, say, read, figures };
}

test("the lag is that of the most overdue journal which this process serves and nobody works on", async () => {
  const { journal, clock, say, read } = stage();
  expect(await read()).toMatchObject({ dueLagMs: 0 });
  await say("terminal:left-by-ask");
  clock.now += 10_000;
  await say("slack:T1:C1:1");
  clock.now += 3_000;
  expect(await read()).toMatchObject({ dueLagMs: 3_000 });
  await journal.lease("slack:T1:C1:1", 6_000);
  expect(await read()).toMatchObject({ dueLagMs: 0 });
  // Its worker died: from the lease's end on nobody works on it.
  clock.now += 8_000;
  expect(await read()).toMatchObject({ dueLagMs: 2_000 });
});

test("it is not guessed where very many journals of others are due", async () => {
  const { clock, say, read } = stage();
  for (let i = 0; i < 1_001; i++) await say(`terminal:left-${i}`);
  clock.now += 1_000;
  expect(await read()).toMatchObject({ dueLagMs: undefined });
});

test("the store's clock is compared with this process's", async () => {
  const { clock, read } = stage();
  clock.now = Date.now() + 3_600_000;
  const { clockMs = 0 } = (await read()) ?? {};
  expect(Math.round(clockMs / 60_000)).toBe(60);
});

test("cards that wait for people count, each with its age", async () => {
  const askedAt = Date.now() - 600_000;
  const asked: string[] = [];
  const { read } = stage({
    async *openActions(transport) {
      asked.push(transport);
      yield { phase: "open", askedAt } as never;
      yield { phase: "approved", askedAt } as never;
    },
  });
  const { waitingMs = [] } = (await read()) ?? {};
  expect(waitingMs.map((ms) => Math.round(ms / 60_000))).toEqual([10]);
  expect(asked).toEqual(["slack"]);
});

test("a store that fails costs its own figures, and the others are told", async () => {
  const down = async () => Promise.reject(new Error("the store is away"));
  const { figures } = stage({
    health: { whyNot: async () => "the store takes no writes", connected: () => new Map() },
    journal: { beat: down, hosts: down, size: down, async *owed() {} },
  });
  expect(await figures()).toEqual({
    isReady: false,
    platforms: new Map(),
    slots: LOAD,
    store: undefined,
  });
});

test("however many ask, one at a time asks the store", async () => {
  let asked = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const { figures } = stage({
    async *openActions() {
      asked += 1;
      await promise;
      yield* [];
    },
  });
  const answers = [figures(), figures(), figures()];
  resolve();
  await Promise.all(answers);
  expect(asked).toBe(1);
  await figures();
  expect(asked).toBe(2);
});

test("cards that cannot be counted in time are left out, and the store's other figures are told", async () => {
  const never = new Promise<never>(() => {});
  const { read } = stage({
    async *openActions() {
      yield await never;
    },
  });
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const figures = read();
  await vi.advanceTimersByTimeAsync(1_500);
  expect(await figures).toMatchObject({ dueLagMs: 0, waitingMs: undefined });
});
