import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import { fold } from "../../src/journal/fold.ts";
import { emptyThread, type Thread } from "../../src/journal/thread.ts";
import { nextStep } from "../../src/worker/next.ts";
import { createStage, fakeTool } from "../fakes/stage.ts";

const PEOPLE = ["test:ana", "test:bob", "test:cy"];

/** What people may do to a thread, in any order. */
const move = fc.oneof(
  fc.constantFrom(
    "run look name=web",
    "run act name=web",
    "run nothing",
    "stop",
    "hello",
    "approvals",
  ),
  fc.record({
    who: fc.constantFrom(...PEOPLE),
    approve: fc.boolean(),
    action: fc.constantFrom("a1", "a2", "a3"),
  }),
  fc.constant("work" as const),
);

async function play(
  moves: (string | { who: string; approve: boolean; action: string })[],
): Promise<Entry[]> {
  const stage = await createStage({
    tools: [fakeTool({ name: "look" }), fakeTool({ name: "act", effect: "write" })],
  });
  for (const step of moves) {
    if (step === "work") await stage.settle();
    else if (typeof step === "string") await stage.say(step);
    else await stage.click(step.action, { kind: step.approve ? "approve" : "deny" }, step.who);
  }
  await stage.settle();
  const entries = await stage.entries();
  await stage.journal.close();
  return entries;
}

const situation = { now: 0, busy: new Set<string>(), draining: false, showAfterMs: undefined };

test("every prefix of every journal folds to a valid thread, entry by entry as in one go", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 14 }), async (moves) => {
      const entries = await play(moves);
      const grown: Thread = emptyThread();
      for (const [i, entry] of entries.entries()) {
        fold(grown, [entry]);
        expect(grown).toEqual(fold(emptyThread(), entries.slice(0, i + 1)));
        expect(() => nextStep(grown, situation)).not.toThrow();
      }
      expect(nextStep(grown, situation).do).toBe("wait");
      expect(grown.pending.size + grown.clicks.size + grown.words.size + grown.debts.size).toBe(0);
    }),
    { numRuns: 80 },
  );
});

test("entries in a senseless order do not break the fold: it never throws, and says how far it came", async () => {
  const entries = await play([
    "run act name=web",
    "work",
    { who: "test:bob", approve: true, action: "a1" },
    "run look name=x",
  ]);
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(entries, { minLength: 1 }), async (some) => {
      const shuffled = some.map((entry, i) => ({ ...entry, seq: i + 1 }));
      const thread = fold(emptyThread(), shuffled);
      expect(thread.last).toBe(shuffled.length);
      expect(() => nextStep(thread, situation)).not.toThrow();
    }),
    { numRuns: 500 },
  );
});

test("what has ended and was shown is forgotten, so a long thread stays small", async () => {
  const entries = await play(Array.from({ length: 40 }, () => "run look name=web"));
  const thread = fold(emptyThread(), entries);
  expect(thread.counts).toMatchObject({ runs: 40, calls: 40 });
  expect(thread.runs.size + thread.live.size + thread.debts.size).toBe(0);
});
