import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import type { Stoppable } from "../../src/journal/journal.ts";
import type { Slot, Wakeups } from "../../src/wakeups/wakeups.ts";

export interface WakeupsUnderTest {
  wakeups: Wakeups;
  /** What the store says is due; the engine sweeps it at least every 50 ms in tests. */
  due: Set<JournalKey>;
  errors: unknown[];
}

/** What every wake-up engine promises. */
export function wakeupsContract(name: string, create: () => WakeupsUnderTest): void {
  describe(`${name} keeps the wake-ups' promises`, () => {
    let under: WakeupsUnderTest;
    let seen: JournalKey[];
    let started: Stoppable | undefined;
    beforeEach(() => {
      under = create();
      seen = [];
    });
    afterEach(() => started?.stop());
    const start = (work: (key: JournalKey, slot: Slot) => Promise<void> = async () => {}) => {
      started = under.wakeups.start(async (key, slot) => {
        seen.push(key);
        await work(key, slot);
        under.due.delete(key);
      });
    };

    test("a wake leads to a look, also one from before the start", async () => {
      under.wakeups.wake("test:before");
      start();
      under.wakeups.wake("test:after");
      await expect.poll(() => seen.toSorted()).toEqual(["test:after", "test:before"]);
    });

    test("a wake for later comes later", async () => {
      start();
      const began = Date.now();
      under.wakeups.wake("test:a", began + 40);
      await expect.poll(() => seen).toEqual(["test:a"]);
      expect(Date.now() - began).toBeGreaterThanOrEqual(39);
    });

    test("what is due is found without any wake", async () => {
      start();
      under.due.add("test:forgotten");
      await expect.poll(() => seen).toEqual(["test:forgotten"]);
    });

    test("one journal is never worked on twice at once, and a wake during its work leads to another look", async () => {
      let running = 0;
      const first = Promise.withResolvers<void>();
      start(async () => {
        expect(++running).toBe(1);
        if (seen.length === 1) await first.promise;
        running--;
      });
      under.wakeups.wake("test:a");
      await expect.poll(() => seen.length).toBe(1);
      under.wakeups.wake("test:a");
      under.wakeups.wake("test:a");
      first.resolve();
      await expect.poll(() => seen.length).toBe(2);
      expect(under.errors).toEqual([]);
    });

    test("journals that only wait, for a model or a tool, keep no other from being worked on", async () => {
      const answer = Promise.withResolvers<void>();
      let ended = 0;
      start(async (key, slot) => {
        if (key.startsWith("test:waits")) await slot.lendWhile(answer.promise, () => "runs");
        ended += 1;
      });
      for (let i = 0; i < 200; i += 1) under.wakeups.wake(`test:waits${i}`);
      await expect.poll(() => seen.length).toBe(200);
      under.wakeups.wake("test:person", 0, "people");
      await expect.poll(() => [seen.at(-1), ended]).toEqual(["test:person", 1]);
      answer.resolve();
      await expect.poll(() => ended).toBe(201);
    });

    test("it says how many journals are worked on, how many only wait, and that none is left", async () => {
      const idle = { busy: 0, held: 0, waiting: { people: 0, runs: 0, found: 0 } };
      const { slots } = under.wakeups.load();
      expect(under.wakeups.load()).toEqual({ slots, ...idle });
      const [answer, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      start(async (key, slot) => {
        if (key === "test:waits") await slot.lendWhile(answer.promise, () => "runs");
        else await gate.promise;
      });
      under.wakeups.wake("test:waits");
      await expect.poll(() => under.wakeups.load()).toMatchObject({ busy: 0, held: 1 });
      for (let i = 0; i < 3; i += 1) under.wakeups.wake(`test:works${i}`);
      await expect.poll(() => under.wakeups.load()).toMatchObject({ busy: 3, held: 4 });
      gate.resolve();
      answer.resolve();
      await expect.poll(() => under.wakeups.load()).toEqual({ slots, ...idle });
    });

    test("a journal whose work fails is reported and swept again, and does not hold up others", async () => {
      under.due.add("test:bad");
      start(async (key) => {
        if (key === "test:bad" && seen.filter((each) => each === key).length < 3)
          throw new Error("poison");
      });
      under.wakeups.wake("test:good");
      await expect
        .poll(() => seen.filter((key) => key === "test:bad").length)
        .toBeGreaterThanOrEqual(3);
      await expect.poll(() => seen).toContain("test:good");
      await expect.poll(() => under.errors.length).toBeGreaterThanOrEqual(2);
    });

    test("stopped, it begins nothing and has waited for what runs", async () => {
      const gate = Promise.withResolvers<void>();
      let ended = false;
      start(async () => {
        await gate.promise;
        ended = true;
      });
      under.wakeups.wake("test:a");
      await expect.poll(() => seen.length).toBe(1);
      const stopped = started?.stop();
      under.wakeups.wake("test:b");
      gate.resolve();
      await stopped;
      expect(ended).toBe(true);
      expect(seen).toEqual(["test:a"]);
    });
  });
}
