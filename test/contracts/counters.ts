import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Journal, Reservation } from "../../src/journal/journal.ts";
import type { JournalUnderTest } from "./journal-under-test.ts";

/** What every journal store promises of its counters; a part of `journalContract`. */
export function countersContract(name: string, open: () => Promise<JournalUnderTest>): void {
  describe(`${name} keeps budgets`, () => {
    let under: JournalUnderTest;
    let journal: Journal;
    let other: Journal;
    beforeEach(async () => {
      under = await open();
      journal = under.first;
      other = under.second;
    });
    afterEach(() => under.close());

    test("what several processes set aside at once never passes the limit, and only what would is refused", async () => {
      let round = 0;
      const amounts = fc.array(fc.nat({ max: 40 }), { maxLength: 30 });
      await fc.assert(
        fc.asyncProperty(amounts, fc.nat({ max: 120 }), async (wanted, limit) => {
          const counter = `round${round++}`;
          const asked = wanted.map((amount, i) =>
            (i % 2 === 0 ? journal : other).reserve(counter, amount, limit),
          );
          const got = await Promise.all(asked);
          const used = got.reduce((sum, each) => sum + (each?.amount ?? 0), 0);
          expect(used).toBeLessThanOrEqual(limit);
          expect(await other.used(counter)).toBe(used);
          for (const [i, amount] of wanted.entries()) {
            if (got[i] === undefined) expect(used + amount).toBeGreaterThan(limit);
          }
        }),
        { numRuns: 40 },
      );
    });

    test("what is set aside can be flushed by name, until it is settled", async () => {
      const use = await journal.reserve("uses", 1, 1);
      if (use === undefined) throw new Error("nothing was set aside");
      expect(await other.flushReservation(use)).toBe("ok");
      const left = await under.afterPowerLoss?.();
      if (left !== undefined) expect(await left.reserve("uses", 1, 1)).toBeUndefined();
      await journal.commitReservation(use, 1);
      expect(await other.flushReservation(use)).toBe("lost");
    });

    test("whatever is set aside and settled in whatever order, a counter is what was used and what is open", async () => {
      let round = 0;
      const move = fc.record({
        settles: fc.boolean(),
        pick: fc.nat(),
        amount: fc.nat({ max: 60 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(move, { maxLength: 30 }), async (moves) => {
          const counter = `round${round++}`;
          const made: Reservation[] = [];
          const settled = new Set<Reservation>();
          let used = 0;
          for (const { settles, pick, amount } of moves) {
            const hand = pick % 2 === 0 ? journal : other;
            const chosen = made[pick % Math.max(1, made.length)];
            if (!settles) {
              const got = await hand.reserve(counter, amount, 100);
              expect(got !== undefined).toBe(used + amount <= 100);
              if (got === undefined) continue;
              expect(got).toMatchObject({ counter, amount });
              made.push(got);
              used += amount;
            } else if (chosen !== undefined) {
              await hand.commitReservation(chosen, amount);
              if (!settled.has(chosen)) used += amount - chosen.amount;
              settled.add(chosen);
            }
            expect(await hand.used(counter)).toBe(used);
          }
        }),
        { numRuns: 40 },
      );
    });

    test("what is settled with more may pass the limit, with less leaves room, and a second time changes nothing", async () => {
      const first = await journal.reserve("day", 60, 100);
      const second = await other.reserve("day", 30, 100);
      if (first === undefined || second === undefined) throw new Error("there was room");
      expect(await journal.reserve("day", 11, 100)).toBeUndefined();
      expect(await journal.reserve("another day", 11, 100)).toBeDefined();
      await other.commitReservation(first, 10);
      await journal.commitReservation(first, 99);
      expect(await journal.reserve("day", 61, 100)).toBeUndefined();
      await journal.commitReservation(second, 300);
      expect(await other.reserve("day", 0, 100)).toBeUndefined();
      expect(await other.reserve("day", 0, 310)).toBeDefined();
      expect(await other.reserve("day", 1, 310)).toBeUndefined();
    });

    test("what a crash left unsettled stays set aside; what cannot be counted is refused", async () => {
      expect(await journal.reserve("day", 60, 100)).toBeDefined();
      under.clock.now += 86_400_000;
      expect(await other.reserve("day", 41, 100)).toBeUndefined();
      for (const amount of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await expect(journal.reserve("day", amount, 100)).rejects.toThrow(TypeError);
        const made = await journal.reserve("day", 1, 100);
        if (made !== undefined)
          await expect(other.commitReservation(made, amount)).rejects.toThrow(TypeError);
      }
      expect(await other.reserve("day", 37, 100)).toBeUndefined();
      expect(await other.reserve("day", 36, 100)).toBeDefined();
    });
  });
}
