import type { GoalEnd, GoalPause } from "../../core/goal.ts";
import { goalAtWork, goalRun, usedUp } from "./goal.ts";
import { ends, pauses } from "./phrases.ts";
import { MAX_BARREN, MAX_FAILURES, ruleVerdict, uncalled, type Verdict } from "./rules.ts";
import type { Goal, GoalTask, GoalWork } from "./state.ts";
import { rootOf } from "../family.ts";
import type { Run, Thread } from "../state.ts";

/** How a goal goes on: decided from the fold and the clock alone. */

/** What is done next of it. What is planned and judged has to be thought about; the rest follows at once. */
export type GoalMove = { goal: Goal } & (
  | { kind: "plan" }
  | { kind: "judge"; task: GoalTask; work: GoalWork }
  | { kind: "verdict"; task: GoalTask; work: GoalWork; verdict: Verdict }
  | { kind: "begin"; task: GoalTask }
  | { kind: "pause"; why: GoalPause; text: string }
  | { kind: "end"; status: GoalEnd; text: string }
);

/** Undefined: none is at work, it is paused, or its run goes on. */
export function nextMove(thread: Thread, now: number): GoalMove | undefined {
  const goal = goalAtWork(thread);
  if (goal === undefined || goalRun(thread, goal) !== undefined) return undefined;
  const { stoppedBy, status, work, queue } = goal;
  if (stoppedBy !== undefined)
    return { goal, kind: "end", status: "stopped", text: ends.stopped(stoppedBy, goal) };
  if (status !== "running") return undefined;
  const task = goal.tasks.get(work?.task ?? "");
  const verdict = task && work && ruleVerdict(goal, task, work);
  if (task && work && verdict) return { goal, kind: "verdict", task, work, verdict };
  // What is over takes no budget any more.
  const end = task === undefined ? endingOf(goal) : undefined;
  if (end !== undefined) return end;
  const what = usedUp(goal, now);
  if (what !== undefined)
    return { goal, kind: "pause", why: "budget", text: pauses.budget(goal, what) };
  if (task && work) return { goal, kind: "judge", task, work };
  if (goal.failures >= MAX_FAILURES)
    return { goal, kind: "pause", why: "trouble", text: pauses.trouble(goal.why ?? "") };
  const next = goal.isPlanDue ? undefined : goal.tasks.get(queue[0] ?? "");
  return next === undefined ? { goal, kind: "plan" } : { goal, kind: "begin", task: next };
}

/** Undefined: it is to be planned, or a task waits. */
function endingOf(goal: Goal): GoalMove | undefined {
  const { answer, barren, isPlanDue, queue, empty, tasks } = goal;
  const end = (status: GoalEnd, text: string) => ({ goal, kind: "end" as const, status, text });
  if (answer !== undefined) return end("done", answer.text ?? ends.empty(goal));
  if (barren >= MAX_BARREN) return end(endOf(goal), ends.barren(barren, goal));
  if (isPlanDue || queue.length > 0) return undefined;
  // One plan that leaves nothing to do may be a slip at the very beginning; after that it is what there is to say.
  const isFirst = empty === 1 && tasks.size === 0;
  return isFirst ? undefined : end(endOf(goal), ends.empty(goal));
}

/** How it ends that no plan called done. */
function endOf(goal: Goal): GoalEnd {
  const ended = [...goal.tasks.values()].map(({ status }) => status);
  if (!ended.includes("done")) return "failed";
  const isWhole = ended.every((status) => status === "done" || status === "split");
  return isWhole && uncalled(goal).length === 0 ? "done" : "partly";
}

/** A paused goal's run finishes what it began, and begins nothing more. */
export function isHeld({ goals }: Pick<Thread, "goals">, run: Run): boolean {
  const { goal } = rootOf(run).started;
  return goal !== undefined && goals.get(goal.goal)?.status === "paused";
}
