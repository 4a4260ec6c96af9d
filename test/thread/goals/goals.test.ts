import { deserialize, serialize } from "node:v8";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import type { Entry } from "../../../src/core/entry.ts";
import { decide } from "../../../src/thread/decide.ts";
import { fold } from "../../../src/thread/fold.ts";
import {
  goalAtWork,
  goalStartedDraft,
  goalStateDraft,
  leftOf,
} from "../../../src/thread/goals/goal.ts";
import { heldToCalls } from "../../../src/thread/goals/evidence.ts";
import { notesForPlan, notesForTask } from "../../../src/thread/goals/notes.ts";
import { textKey } from "../../../src/thread/goals/rules.ts";
import type { GoalNote } from "../../../src/thread/goals/state.ts";
import { Thread } from "../../../src/thread/state.ts";
import { wholeTrial } from "../../agent/goal-trial.ts";

let entries: readonly Entry[] = [];
beforeAll(async () => {
  ({ entries } = await wholeTrial(7));
});

const situation = { now: 0, busy: new Set<string>(), draining: false, showAfterMs: undefined };

test("every prefix of a goal's journal folds to a valid thread, entry by entry as in one go, and through a snapshot's form", () => {
  const grown = new Thread();
  for (const [i, entry] of entries.entries()) {
    fold(grown, [entry]);
    if (i % 5 !== 0 && i !== entries.length - 1) continue;
    const once = fold(new Thread(), entries.slice(0, i + 1));
    expect(grown).toEqual(once);
    expect(Object.assign({}, grown)).toEqual(deserialize(serialize(once)));
    expect(() => decide(grown, situation)).not.toThrow();
  }
  expect(goalAtWork(grown)).toBeUndefined();
  const ended = grown.goals.get("g1");
  expect(ended).toMatchObject({ status: "ended", queue: [], work: undefined });
  // What only plans and verdicts need takes no memory any more.
  expect(ended).toMatchObject({ words: [], results: new Set() });
  // Its runs were judged and forgotten.
  expect(grown.runs.size + grown.live.size).toBe(0);
});

test("a goal's entries in a senseless order do not break the fold", () => {
  fc.assert(
    fc.property(fc.shuffledSubarray([...entries], { minLength: 1 }), (some) => {
      const shuffled = some.map((entry, i) => ({ ...entry, seq: i + 1 }));
      const thread = fold(new Thread(), shuffled);
      expect(thread.last).toBe(shuffled.length);
      expect(() => decide(thread, situation)).not.toThrow();
    }),
    { numRuns: 60 },
  );
});

const budget = { steps: 10, minutes: 10, tokens: 1_000 };

/** A thread with that many goals, all but the last of them ended. */
function goals(count: number): Thread {
  const thread = new Thread();
  const write = (draft: object) =>
    fold(thread, [{ seq: thread.last + 1, at: 0, ...draft } as Entry]);
  for (let n = 1; n <= count; n++) {
    const wanted = { text: "t", principals: [], model: "m", budget, replan: 0 };
    write(goalStartedDraft(thread, wanted));
    const goal = goalAtWork(thread);
    if (goal !== undefined && n < count)
      write(goalStateDraft(goal, { state: "ended", status: "done" }));
  }
  return thread;
}

test("goals that are over leave the fold but for the newest three, and each has a name of its own", () => {
  const thread = goals(9);
  expect([...thread.goals.keys()]).toEqual(["g6", "g7", "g8", "g9"]);
  expect(goalAtWork(thread)?.started.goal).toBe("g9");
});

test("what is left of a budget is never less than nothing", () => {
  const goal = goalAtWork(goals(1));
  expect(goal && leftOf(goal, 24 * 60 * 60_000)).toEqual({ steps: 10, minutes: 0, tokens: 1_000 });
});

test.each([
  ["Look at the logs of web-1.", "look at logs of WEB-1", true],
  ["Look at shard 1", "Look at shard 2", false],
  ["Copy from a1 to b2", "Copy from b2 to a1", false],
  ["日志", "日志。", true],
])("%s and %s ask for the same: %s", (one, other, same) => {
  expect(textKey(one) === textKey(other)).toBe(same);
});

test("what a planner and a task's run are told of many notes is the newest and the most alike, the same each time", () => {
  const goal = goalAtWork(goals(1));
  if (goal === undefined) throw new Error("there is no goal");
  const note = (seq: number, text: string, task = "g1.k1"): GoalNote => {
    return { kind: "result", task, text, seq };
  };
  goal.notes = [
    note(1, "the disk of db-3 is full"),
    ...Array.from({ length: 40 }, (_, i) => note(i + 2, `host ${i} is well`)),
  ];
  const told = notesForPlan({ ...goal, started: { ...goal.started, text: "why is db-3 slow" } });
  expect(told.map(({ seq }) => seq)).toEqual([1, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41]);
  const own = note(50, "own", "g1.k2");
  goal.notes.push(own);
  const task = { task: "g1.k2", text: "free the disk of db-3" };
  expect(notesForTask(goal, task).map(({ seq }) => seq)).toEqual([1, 50]);
});

test("an answer that cites calls which never ran says so, and what is sure without a call is not told as sure", () => {
  const evidence = new Map([[4, "ok" as const]]);
  expect(heldToCalls("CONFIRMED: it is full [T4].", evidence)).toBe("CONFIRMED: it is full [T4].");
  expect(heldToCalls("CONFIRMED: it is full [T4] [T9].\n\nMore.", evidence)).toBe(
    "CONFIRMED: it is full [T4].\n\n> ⚠ It cited checks that never ran; I removed them.\n\nMore.",
  );
  expect(heldToCalls("CONFIRMED: it is full [T9].", evidence)).toContain(
    "cites no check that shows it.",
  );
  expect(heldToCalls("Hello.", evidence)).toBe("Hello.");
});

test("of what its calls brought the newest is remembered, however long it works", () => {
  const thread = new Thread();
  const at = entries.findIndex(({ kind }) => kind === "tool_finished");
  fold(thread, entries.slice(0, at + 1));
  const asked = entries.slice(0, at).findLast(({ kind }) => kind === "assistant");
  const brought = () => [...(goalAtWork(thread)?.results ?? [])];
  const see = (text: string) => {
    const next = () => ({ seq: thread.last + 1, id: `e${thread.last + 1}` });
    fold(thread, [{ ...asked, ...next() } as Entry]);
    const [call] = [...thread.going].flatMap(({ open }) => [...open.keys()]);
    fold(thread, [{ ...entries[at], ...next(), call, text } as Entry]);
  };
  for (let n = 1; n <= 1_000; n++) see(`result ${n}`);
  const last = brought().at(-1);
  see("one more");
  expect(brought()).toHaveLength(1_000);
  expect(brought().at(-1)).not.toBe(last);
});
