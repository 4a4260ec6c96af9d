import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import type { Handoff, PlacedShift } from "../../src/handoff/handoff.ts";
import { handoffText } from "../../src/handoff/words.ts";

const START = Date.parse("2026-11-20T12:00:00Z");
const period = { from: START, to: START + 9, zone: "UTC", name: "today" };
/** So few that several things happen at once. */
const at = fc.integer({ min: 0, max: 2 }).map((ms) => START + ms);
const ref = fc.constantFrom("a1", "a2");
const what = fc.constantFrom("Restart web", "Restart db");
const few = <T>(of: fc.Arbitrary<T>) => fc.array(of, { maxLength: 3 });

const shift: fc.Arbitrary<Omit<PlacedShift, "where">> = fc.record({
  views: fc.constant([]),
  deeds: few(
    fc.record({
      at,
      ref,
      what,
      tool: fc.constant("restart"),
      outcome: fc.constantFrom("ok" as const, "error" as const),
      by: fc.constant([]),
      isUndo: fc.boolean(),
      undone: fc.boolean(),
      seen: fc.constant(undefined),
      lookAt: fc.option(at, { nil: undefined }),
    }),
  ),
  waiting: few(fc.record({ ref, what, askedAt: at, expiresAt: at })),
  silences: few(fc.record({ ref, what, until: at })),
  unanswered: few(fc.constantFrom("Is it up?", "is it up?", "why?")),
  questions: few(what),
  unsettled: few(fc.record({ ref, what, at })),
  alerts: few(
    fc.record({ name: what, firing: fc.nat({ max: 1 }), startedAt: at, told: fc.nat() }),
  ).map((all) =>
    all.map((each): Entry<"alert_state"> => ({
      ...each,
      id: "alert:1",
      seq: 1,
      at: START,
      kind: "alert_state",
      of: "alerts:test",
      group: "g",
      last: 1,
      acknowledged: 0,
      resolved: 0,
      folded: [],
      alerts: [],
    })),
  ),
  missed: few(
    fc.record({
      what: fc.constantFrom("pods", "logs"),
      why: fc.constantFrom("403", "no token"),
      help: fc.constant("Set a token."),
      calls: fc.integer({ min: 1, max: 2 }),
    }),
  ),
  broken: few(fc.constantFrom("web: out of memory", "db: disk full")),
  runs: fc.nat({ max: 2 }),
  failed: fc.nat({ max: 2 }),
  tokens: fc.nat(),

  money: fc.constant({ microdollars: 0, unpriced: 0 }),
});

test("the same threads in any order are handed over in the same words, also where all of it happened at once", () => {
  const threads = fc
    .uniqueArray(fc.nat({ max: 30 }), { minLength: 2, maxLength: 5 })
    .chain((places) =>
      fc.tuple(...places.map((place) => shift.map((of) => ({ ...of, where: `thread ${place}` })))),
    );
  const both = threads.chain((all) =>
    fc.tuple(
      fc.constant(all),
      fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }),
    ),
  );
  const textOf = (shifts: PlacedShift[]) => {
    const handoff: Handoff = {
      period,
      incidents: [],
      explained: [],
      threads: shifts,
      frozen: [],
      maintenance: [],
      unasked: [],
      isCut: false,
    };
    return handoffText(handoff, (text) => text);
  };
  fc.assert(fc.property(both, ([all, shuffled]) => textOf(all) === textOf(shuffled)));
  expect(textOf([])).toContain("Nothing to hand over.");
});
