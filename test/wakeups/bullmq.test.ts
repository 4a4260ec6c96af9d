import { Queue } from "bullmq";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import type { Stoppable } from "../../src/journal/journal.ts";
import { createBullmqWakeups } from "../../src/wakeups/bullmq.ts";
import { wakeupsContract } from "../contracts/wakeups.ts";
import { RedisServer } from "../fakes/redis-server.ts";
import { until } from "../until.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

interface Settings {
  slots?: number;
  sweepMs?: number;
  served?: string[];
  local?: string;
}

function create({ served = ["test"], local = "terminal", ...settings }: Settings = {}) {
  const due = new Set<JournalKey>();
  const errors: unknown[] = [];
  const wakeups = createBullmqWakeups({
    address: server.address,
    isShared: (transport) => transport !== local,
    served: () => served,
    due: async function* dueKeys() {
      yield* due;
    },
    onError: (error) => errors.push(error),
    sweepMs: 20,
    ...settings,
  });
  return { wakeups, due, errors };
}

wakeupsContract("BullMQ", () => {
  server.cli("FLUSHALL");
  return create();
});

describe("wake-ups of several processes", () => {
  const started: Stoppable[] = [];
  beforeEach(() => void server.cli("FLUSHALL"));
  afterEach(async () => {
    for (const each of started.splice(0)) await each.stop();
  });

  /** A process that says what it looks at and, unless told otherwise, hears of nothing by sweeping. */
  function join(settings: Settings & { work?: (key: JournalKey) => Promise<void> } = {}) {
    const { work = async () => {}, ...rest } = settings;
    const { wakeups, errors } = create({ sweepMs: 60_000, ...rest });
    const seen: JournalKey[] = [];
    started.push(
      wakeups.start(async (key) => {
        seen.push(key);
        await work(key);
      }),
    );
    return { wakeups, errors, seen };
  }

  const queueOf = () =>
    new Queue("wakeups-test", { prefix: "{wk}", connection: { path: server.path } });

  test("each wake leads to a look in one of them, whoever woke", async () => {
    const [one, two] = [join({ slots: 4 }), join({ slots: 4 })];
    const keys = Array.from({ length: 60 }, (_, i): JournalKey => `test:${i}`);
    for (const key of keys) one.wakeups.wake(key);
    await expect.poll(() => one.seen.length + two.seen.length).toBe(60);
    expect([...one.seen, ...two.seen].toSorted()).toEqual(keys.toSorted());
    expect(one.seen.length).toBeGreaterThan(0);
    expect(two.seen.length).toBeGreaterThan(0);
  });

  test("a wake from elsewhere during a journal's work leads to one more look, however often it comes", async () => {
    const gate = Promise.withResolvers<void>();
    let looks = 0;
    const work = async () => {
      if (++looks === 1) await gate.promise;
    };
    const [one, two] = [join({ work }), join({ work })];
    one.wakeups.wake("test:a");
    await expect.poll(() => looks).toBe(1);
    for (let i = 0; i < 10; i++) two.wakeups.wake("test:a");
    await expect.poll(() => server.cli("--scan", "--pattern", "*:dn:*")).not.toBe("");
    gate.resolve();
    await expect.poll(() => looks).toBe(2);
    await expect.poll(() => server.cli("ZCARD", "{wk}:wakeups-test:active")).toBeDefined();
    expect(looks).toBe(2);
  });

  test("wakes for people are taken before those that were sent earlier for runs", async () => {
    const gate = Promise.withResolvers<void>();
    const one = join({
      slots: 1,
      work: async (key) => void (key === "test:a" && (await gate.promise)),
    });
    one.wakeups.wake("test:a");
    await until(() => one.seen.length === 1);
    for (const key of ["test:b", "test:c"] as const) one.wakeups.wake(key);
    await until(() => server.cli("ZCARD", "{wk}:wakeups-test:prioritized") === "2");
    for (const key of ["test:c", "test:person"] as const) one.wakeups.wake(key, 0, "people");
    await until(() => server.cli("LLEN", "{wk}:wakeups-test:wait") === "2");
    gate.resolve();
    await until(() => one.seen.length === 5);
    expect(one.seen).toEqual(["test:a", "test:c", "test:person", "test:b", "test:c"]);
  });

  test("a timer outlives the process that set it", async () => {
    const one = join();
    one.wakeups.wake("test:a", Date.now() + 3_600_000);
    await until(() => server.cli("ZCARD", "{wk}:wakeups-test:delayed") === "1");
    await started.pop()?.stop();
    const two = join();
    const queue = queueOf();
    const [timer] = await queue.getDelayed();
    expect(timer?.opts.delay).toBeGreaterThan(3_500_000);
    // An hour later.
    await timer?.changeDelay(20);
    await until(() => two.seen.length > 0);
    expect([one.seen, two.seen]).toEqual([[], ["test:a"]]);
    await queue.close();
  });

  test("a process takes no wakes of a platform that it does not serve, and keeps those that are its own", async () => {
    const terminal = join({ served: ["terminal"] });
    const chat = join();
    for (let i = 0; i < 20; i++) terminal.wakeups.wake(`test:${i}`);
    terminal.wakeups.wake("terminal:a");
    await expect.poll(() => chat.seen.length).toBe(20);
    expect(terminal.seen).toEqual(["terminal:a"]);
  });

  test("nothing is kept of wakes that were heeded", async () => {
    const one = join();
    one.wakeups.wake("test:a");
    one.wakeups.wake("test:b", Date.now() + 30);
    await expect.poll(() => one.seen.toSorted()).toEqual(["test:a", "test:b"]);
    const left = () => server.cli("--scan", "--pattern", "{wk}:wakeups-test:*").split("\n");
    const named = ["meta", "id", "events", "stalled-check", "marker", "delayed"];
    await expect
      .poll(() => left().filter((key) => !named.some((name) => key.endsWith(`:${name}`))))
      .toEqual([]);
  });

  test("a job that is no wake-up is named once and dropped; those between them are heeded", async () => {
    const { seen, errors, wakeups } = join();
    const queue = queueOf();
    const theirs = [null, 7, "test:a", {}, { key: 7 }, { key: "slice" }, { key: "other:a" }];
    for (const data of theirs) await queue.add("wake", data);
    await queue.add("theirs", { key: "test:a", at: 0 });
    wakeups.wake("test:b");
    await until(() => seen.length === 2);
    expect(seen.toSorted()).toEqual(["test:a", "test:b"]);
    expect(errors).toMatchObject([
      { code: "WAKE_INVALID", message: expect.stringContaining("{wk}:wakeups-test") },
    ]);
    expect(await queue.getJobCounts("failed", "wait", "active", "completed")).toMatchObject({
      failed: 0,
      wait: 0,
    });
    await queue.close();
  });

  test("without Redis it says so once, goes on sweeping, stops, and takes wakes again when it is back", async () => {
    const { wakeups, due, errors } = create();
    const seen: JournalKey[] = [];
    const running = wakeups.start(async (key) => {
      seen.push(key);
      due.delete(key);
    });
    started.push(running);
    wakeups.wake("test:before");
    await expect.poll(() => seen).toEqual(["test:before"]);
    await server.kill();
    due.add("test:swept");
    await expect.poll(() => seen).toContain("test:swept");
    await expect.poll(() => errors.length).toBeGreaterThan(0);
    wakeups.wake("test:meanwhile");
    await server.restart();
    await expect.poll(() => seen).toContain("test:meanwhile");
    expect(errors.length).toBeLessThan(6);
    const known = errors.length;
    await server.kill();
    await expect.poll(() => errors.length).toBeGreaterThan(known);
    const began = performance.now();
    await running.stop();
    started.length = 0;
    expect(performance.now() - began).toBeLessThan(10_000);
    await server.restart();
  });
});
