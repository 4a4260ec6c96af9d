import type { ErrorCode } from "../../core/errors.ts";
import type { GoalVerdict } from "../../core/goal.ts";
import { wordsIn } from "../../core/spellings.ts";
import { oneLine, shortened } from "../../core/text.ts";
import type { Goal, GoalTask, GoalWork } from "./state.ts";
import { verdicts } from "./phrases.ts";

/** What holds a goal to its end, whatever models say. */

/** A task is begun so often again. */
const MAX_RETRIES = 2;
/** A part of a part of a part is done or given up. */
const MAX_DEPTH = 3;
/** Requests in a row that give no plan or verdict, and runs in a row that no model answers. */
export const MAX_FAILURES = 3;
/** So many tasks in a row that bring nothing new end it. */
export const MAX_BARREN = 4;
export const MAX_TASKS = 7;
export const MAX_PARTS = 5;
const MAX_REASON = 500;

export interface Verdict {
  verdict: GoalVerdict;
  reason: string;
  by: "model" | "rule";
  /** Of a split task. */
  parts?: readonly PlannedText[];
  excused?: true;
}

export interface PlannedText {
  text: string;
  requires: readonly string[];
}

/** No fault of the task's: the program or a model's provider kept it from going on. */
function isExcused(error: string | undefined): boolean {
  const own: readonly ErrorCode[] = ["MODEL_CONTEXT_TOO_LONG", "TIMEOUT"];
  return error !== undefined && !own.some((code) => code === error);
}

/** What became of a task whose run needs no judge; undefined: it does. */
export function ruleVerdict(goal: Goal, task: GoalTask, { ended }: GoalWork): Verdict | undefined {
  if (ended === undefined) return undefined;
  const { status, text = "", error } = ended;
  const by = "rule" as const;
  if (status === "cancelled") return { verdict: "abandon", reason: verdicts.stopped, by };
  if (status === "failed") {
    const reason = verdicts.failed(shortened(oneLine(text), MAX_REASON));
    if (isExcused(error)) return { verdict: "retry", reason, by, excused: true };
    return again(task, reason);
  }
  if (goal.failures >= MAX_FAILURES) return again(task, verdicts.unjudged(goal.why ?? ""));
  return undefined;
}

/** It is tried again, or was tried often enough. */
function again(task: GoalTask, reason: string): Verdict {
  const { tries, depth } = task;
  if (depth >= MAX_DEPTH) return { verdict: "abandon", reason, by: "rule" };
  if (tries > MAX_RETRIES)
    return { verdict: "abandon", reason: verdicts.tooOften(tries, reason), by: "rule" };
  return { verdict: "retry", reason, by: "rule" };
}

/** The tools without which it is not done and which were not called yet: of a task, or of a goal. */
export function uncalled({
  requires,
  called,
}: {
  readonly requires: readonly string[];
  readonly called: ReadonlySet<string>;
}): string[] {
  return [...new Set(requires)].filter((tool) => !called.has(tool));
}

/** What was tried already and parts of a split task wait before what is planned; no plan drops them. */
export function waitsInFront({ tries, parent }: GoalTask): boolean {
  return tries > 0 || parent !== undefined;
}

export interface Said {
  verdict: GoalVerdict;
  reason: string;
  parts: readonly PlannedText[];
}

/** What becomes of a task, given what the model says of it. */
export function heeded(goal: Goal, task: GoalTask, work: GoalWork, said: Said): Verdict {
  const reason = shortened(said.reason, MAX_REASON);
  const asSaid = { verdict: said.verdict, reason, by: "model" as const };
  switch (said.verdict) {
    case "done": {
      const missing = uncalled(task);
      if (missing.length > 0) return again(task, verdicts.notCalled(missing));
      return work.calls === 0 ? again(task, verdicts.noCall) : asSaid;
    }
    case "retry": {
      const verdict = again(task, reason);
      return verdict.verdict === "retry" ? asSaid : verdict;
    }
    case "split": {
      if (task.depth >= MAX_DEPTH)
        return { verdict: "abandon", reason: verdicts.tooDeep(reason), by: "rule" };
      const parts = newTexts(goal, said.parts).slice(0, MAX_PARTS);
      return parts.length === 0 ? again(task, verdicts.noParts) : { ...asSaid, parts };
    }
    case "abandon":
      return asSaid;
  }
}

const ARTICLES: ReadonlySet<string> = new Set(["a", "an", "the"]);

/** The same for texts that say the same but for case, punctuation and articles. Order counts: from a to b is not from b to a. */
export function textKey(text: string): string {
  const words = wordsIn(text).filter((word) => !ARTICLES.has(word));
  return words.length === 0 ? oneLine(text) : words.join(" ");
}

/** Those that no task of the goal asks for, each once. `isKnown`: which of the goal's count. */
export function newTexts(
  { tasks }: Goal,
  texts: readonly PlannedText[],
  isKnown: (task: GoalTask) => boolean = () => true,
): PlannedText[] {
  const known = new Set([...tasks.values()].filter(isKnown).map(({ text }) => textKey(text)));
  return texts.filter(({ text }) => {
    const key = textKey(text);
    if (text.trim() === "" || known.has(key)) return false;
    known.add(key);
    return true;
  });
}
