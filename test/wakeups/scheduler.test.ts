import { setImmediate as turnOfLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { createScheduler, type SchedulerOptions } from "../../src/wakeups/scheduler.ts";
import type { Lane, Work } from "../../src/wakeups/wakeups.ts";

const keys = (name: string, count: number) =>
  Array.from({ length: count }, (_, i): JournalKey => `test:${name}${i}`);

/** A scheduler whose journals do what the test says; `begun` names them in the order in which they are begun. */
function begin(work: Work, options: Partial<SchedulerOptions> = {}) {
  const begun: JournalKey[] = [];
  const errors: unknown[] = [];
  const scheduler = createScheduler({ onError: (error) => errors.push(error), ...options });
  scheduler.start(async (key, slot) => {
    begun.push(key);
    await work(key, slot);
  });
  return { scheduler, begun, errors };
}

/** One slot, taken by `test:first` until it is let go. */
async function occupied(work: Work = async () => {}) {
  const first = Promise.withResolvers<void>();
  const begins = begin(
    async (key, slot) => {
      if (key === "test:first") await first.promise;
      else await work(key, slot);
    },
    { slots: 1 },
  );
  const look = begins.scheduler.look("test:first", "runs");
  await turnOfLoop();
  return {
    ...begins,
    async letGo() {
      first.resolve();
      await look;
      for (let turns = 0; turns < 200; turns += 1) await turnOfLoop();
    },
  };
}

test("what only waits holds no slot: a thousand journals wait, and the next one is worked on", async () => {
  const answer = Promise.withResolvers<void>();
  let ended = 0;
  const { scheduler, begun } = begin(
    async (key, slot) => {
      if (key !== "test:next") await slot.lendWhile(answer.promise, () => "runs");
      ended += 1;
    },
    { slots: 2, maxHeld: 2_000 },
  );
  // Each is heeded though none is done.
  await Promise.all(keys("waits", 1_000).map((key) => scheduler.look(key, "runs")));
  await scheduler.look("test:next", "runs");
  expect([begun.length, begun.at(-1), ended]).toEqual([1_001, "test:next", 1]);
  answer.resolve();
  await scheduler.stop();
  expect(ended).toBe(1_001);
});

test("no more journals than there are slots are worked on at once, those included that go on after they waited", async () => {
  let working = 0;
  let most = 0;
  const step = async () => {
    most = Math.max(most, ++working);
    await turnOfLoop();
    working -= 1;
  };
  const { scheduler } = begin(
    async (_, slot) => {
      await step();
      await slot.lendWhile(turnOfLoop(), () => "runs");
      await step();
    },
    { slots: 3 },
  );
  await Promise.all(keys("j", 40).map((key) => scheduler.look(key, "runs")));
  await scheduler.stop();
  expect([most, working]).toEqual([3, 0]);
});

test("with every slot taken, what people wait for comes first and what the sweep found last", async () => {
  const { scheduler, begun, letGo } = await occupied();
  for (const lane of ["found", "runs", "people"] as const)
    for (const key of keys(lane, 2)) void scheduler.look(key, lane);
  await letGo();
  expect(begun.slice(1)).toEqual([...keys("people", 2), ...keys("runs", 2), ...keys("found", 2)]);
});

test("a journal that waits in a late lane comes forward when a person writes in it, and is looked at once", async () => {
  const { scheduler, begun, letGo } = await occupied();
  for (const key of keys("run", 3)) void scheduler.look(key, "runs");
  void scheduler.look("test:old", "found");
  void scheduler.look("test:old", "people");
  void scheduler.look("test:old", "runs");
  await letGo();
  expect(begun.slice(1)).toEqual(["test:old", ...keys("run", 3)]);
});

test("what goes on comes after people too, unless somebody waits for it", async () => {
  const answer = Promise.withResolvers<void>();
  const went: string[] = [];
  const laneOf = (key: string): Lane => (key === "test:stopped" ? "people" : "runs");
  const { scheduler, letGo } = await occupied(async (key, slot) => {
    if (!key.includes("person")) await slot.lendWhile(answer.promise, () => laneOf(key));
    went.push(key);
  });
  await letGo();
  for (const key of ["test:run", "test:stopped"] as const) await scheduler.look(key, "people");
  answer.resolve();
  void scheduler.look("test:person", "people");
  await scheduler.stop();
  expect(went).toEqual(["test:person", "test:stopped", "test:run"]);
});

test("under people who never stop writing, every eighth slot is a run's or the sweep's in turn", async () => {
  const { scheduler, begun, letGo } = await occupied();
  for (const key of keys("person", 80)) void scheduler.look(key, "people");
  for (const key of keys("old", 4)) void scheduler.look(key, "found");
  for (const key of keys("run", 2)) void scheduler.look(key, "runs");
  await letGo();
  const others = begun.filter((key) => !key.startsWith("test:person"));
  expect(others.slice(1, 5).toSorted()).toEqual([...keys("old", 2), ...keys("run", 2)]);
  // From then on the sweep's alone.
  expect(others.slice(5)).toEqual(["test:old2", "test:old3"]);
  expect(begun.indexOf("test:old3")).toBeLessThanOrEqual(48);
});

test("a journal with a thousand steps lets the others have their turn after every sixteen", async () => {
  const order: string[] = [];
  const { scheduler, letGo } = await occupied(async (key, slot) => {
    for (let step = 0; step < (key === "test:busy" ? 1_000 : 1); step += 1) {
      await slot.pass(() => "runs");
      order.push(key);
    }
  });
  void scheduler.look("test:busy", "runs");
  for (const key of keys("quiet", 10)) void scheduler.look(key, "runs");
  await letGo();
  await scheduler.stop();
  expect(order.slice(0, 15)).toEqual(Array(15).fill("test:busy"));
  expect(order.slice(15, 25)).toEqual(keys("quiet", 10));
  // Alone it goes on without a break.
  expect(order).toHaveLength(1_010);
});

test("a wake while a journal is worked on leads to another look, also after it gave its slot back for good", async () => {
  for (const givesBack of [false, true]) {
    const gate = Promise.withResolvers<void>();
    const { scheduler, begun } = begin(async (_, slot) => {
      if (givesBack) slot.giveBack();
      if (begun.length === 1) await gate.promise;
    });
    const looked = scheduler.look("test:a", "runs");
    let isHeeded = false;
    const again = scheduler.look("test:a", "people");
    void again.then(() => (isHeeded = true));
    await turnOfLoop();
    expect([begun.length, isHeeded]).toEqual([1, false]);
    gate.resolve();
    await Promise.all([looked, again]);
    expect(begun).toEqual(["test:a", "test:a"]);
    await scheduler.stop();
  }
});

test("a wake while a journal waits is heeded at once: its holder reads on by itself", async () => {
  const answer = Promise.withResolvers<void>();
  const { scheduler, begun } = begin(async (_, slot) => {
    await slot.lendWhile(answer.promise, () => "runs");
  });
  await scheduler.look("test:a", "runs");
  await scheduler.look("test:a", "people");
  answer.resolve();
  await scheduler.stop();
  expect(begun).toEqual(["test:a"]);
});

test("a wake that comes just before a journal begins to wait is heeded by that", async () => {
  const answer = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const { scheduler, begun } = begin(async (_, slot) => {
    await gate.promise;
    await slot.lendWhile(answer.promise, () => "runs");
  });
  void scheduler.look("test:a", "runs");
  const again = scheduler.look("test:a", "runs");
  gate.resolve();
  await again;
  answer.resolve();
  await scheduler.stop();
  expect(begun).toEqual(["test:a"]);
});

test("with as many held as there is room for, only people's journals are opened; the others are left to the sweep", async () => {
  const answer = Promise.withResolvers<void>();
  const { scheduler, begun } = begin((_, slot) => slot.lendWhile(answer.promise, () => "runs"), {
    maxHeld: 3,
  });
  for (const key of keys("held", 3)) await scheduler.look(key, "runs");
  expect(scheduler.isFull()).toBe(true);
  await Promise.all([scheduler.look("test:timer", "runs"), scheduler.look("test:old", "found")]);
  await scheduler.look("test:person", "people");
  expect(begun).toEqual([...keys("held", 3), "test:person"]);
  answer.resolve();
  await scheduler.stop();
  expect(scheduler.isFull()).toBe(false);
});

test("what fails gives its slot back, also while it waits for something", async () => {
  const { scheduler, begun, errors } = begin(
    async (key, slot) => {
      if (key === "test:waiting")
        await slot.lendWhile(Promise.reject(new Error("cut")), () => "runs");
      throw new Error("poison");
    },
    { slots: 1 },
  );
  for (const key of ["test:waiting", "test:poison", "test:waiting", "test:next"] as const)
    await scheduler.look(key, "runs");
  await scheduler.stop();
  expect([begun.length, errors.length]).toEqual([4, 4]);
});

test("stopped, it lets what waits go on to its end and begins nothing, though all slots are free", async () => {
  const answer = Promise.withResolvers<void>();
  const ended: string[] = [];
  const { scheduler, begun } = begin(
    async (key, slot) => {
      await slot.lendWhile(answer.promise, () => "runs");
      ended.push(key);
    },
    { slots: 1 },
  );
  for (const key of keys("held", 3)) await scheduler.look(key, "runs");
  const stopped = scheduler.stop();
  await scheduler.look("test:late", "people");
  answer.resolve();
  await stopped;
  expect([begun, ended]).toEqual([keys("held", 3), keys("held", 3)]);
});

test("no work is begun or gone on with while events wait for their acknowledgement", async () => {
  const acknowledged = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  let closed: Promise<void> | undefined;
  const went: string[] = [];
  const { scheduler, begun } = begin(
    async (key, slot) => {
      await slot.lendWhile(answer.promise, () => "runs");
      went.push(key);
    },
    { intake: { closed: () => closed } },
  );
  await scheduler.look("test:before", "runs");
  closed = acknowledged.promise;
  void scheduler.look("test:meanwhile", "people");
  answer.resolve();
  await turnOfLoop();
  expect([begun, went]).toEqual([["test:before"], []]);
  closed = undefined;
  acknowledged.resolve();
  await turnOfLoop();
  await scheduler.stop();
  expect(begun).toEqual(["test:before", "test:meanwhile"]);
  expect(went).toHaveLength(2);
});

test("it says how many wait for a slot, in which lane", async () => {
  const { scheduler, letGo } = await occupied();
  for (const key of keys("person", 2)) void scheduler.look(key, "people");
  void scheduler.look("test:run", "runs");
  void scheduler.look("test:swept", "found");
  const waiting = { people: 2, runs: 1, found: 1 };
  expect(scheduler.load()).toEqual({ slots: 1, busy: 1, held: 1, waiting });
  await letGo();
  const none = { people: 0, runs: 0, found: 0 };
  expect(scheduler.load()).toEqual({ slots: 1, busy: 0, held: 0, waiting: none });
});
