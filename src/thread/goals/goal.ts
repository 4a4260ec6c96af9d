import { countedTokens } from "../../core/block.ts";
import type { Draft } from "../../core/entry.ts";
import type { Budget } from "../../core/budget.ts";
import type { ShownGoal, ShownGoalTask } from "../../core/goal.ts";
import { centsOf } from "../../core/money.ts";
import { REMOVED } from "../../core/removed.ts";
import type { Call } from "../call.ts";
import { entryId } from "../entry-ids.ts";
import { REMOVAL } from "./phrases.ts";
import type { Goal, GoalTask } from "./state.ts";
import type { Run, Thread } from "../state.ts";
import { isWaiting } from "../waiting.ts";

/** What the goals of a thread come to: which is at work, what is left of its budget, how people see it. */

/** The entry with which a goal begins: the next of its thread. */
export function goalStartedDraft(
  { counts }: Pick<Thread, "counts">,
  wanted: Omit<Draft<"goal_started">, "id" | "kind" | "goal">,
): Draft<"goal_started"> {
  const goal = `g${counts.goals + 1}`;
  return { id: entryId.goal(goal), kind: "goal_started", goal, ...wanted };
}

/** The goal that has not ended; a thread has one at a time. */
export function goalAtWork({ goals }: Pick<Thread, "goals">): Goal | undefined {
  for (const goal of goals.values()) if (goal.status !== "ended") return goal;
  return undefined;
}

/** The goal at work, or the newest one; undefined: none is remembered. */
export function newestGoal(thread: Pick<Thread, "goals">): Goal | undefined {
  return goalAtWork(thread) ?? [...thread.goals.values()].at(-1);
}

/** What the next state of the goal, written down, is called. */
export function goalStateDraft(
  { started: { goal }, states }: Goal,
  state: Omit<Draft<"goal_state">, "id" | "kind" | "goal" | "number">,
): Draft<"goal_state"> {
  const number = states + 1;
  return { id: entryId.goalState(goal, number), kind: "goal_state", goal, number, ...state };
}

/** The run that does a task of it and has not ended. */
export function goalRun({ runs }: Pick<Thread, "runs">, { work }: Goal): Run | undefined {
  return work === undefined || work.ended !== undefined ? undefined : runs.get(work.run);
}

/** All that the run could do waits for people to decide. */
export function waitsForPeople({ runs }: Pick<Thread, "runs">, run: Run): boolean {
  const waits = ({ action, asked, reply, helper }: Call): boolean => {
    const found = runs.get(helper ?? "");
    if (found !== undefined) return found.ended === undefined && waitsForPeople({ runs }, found);
    return action === undefined ? asked !== undefined && reply === undefined : isWaiting(action);
  };
  return run.open.size > 0 && [...run.open.values()].every(waits);
}

type Used = Readonly<Record<keyof Budget, number>>;

/** How much of each is used, at this time: `minutes` on the clock. */
export function usedBy({ used }: Goal, now: number): Used {
  const { steps, usage, money, ms, since } = used;
  const more = since === undefined ? 0 : Math.max(0, now - since);
  return {
    steps,
    minutes: (ms + more) / 60_000,
    tokens: countedTokens(usage),
    cents: centsOf(money.microdollars),
  };
}

/** What is left, 0 where more was used. */
export function leftOf(goal: Goal, now: number): Budget {
  const { budget } = goal;
  const used = usedBy(goal, now);
  const left = (of: number, by: number) => Math.max(0, of - by);
  return {
    steps: left(budget.steps, used.steps),
    minutes: left(budget.minutes, used.minutes),
    tokens: left(budget.tokens, used.tokens),
    ...(budget.cents !== undefined && { cents: left(budget.cents, used.cents) }),
  };
}

/** What of its budget is used up. */
export function usedUp(goal: Goal, now: number): keyof Budget | undefined {
  const left = leftOf(goal, now);
  return (["steps", "minutes", "tokens", "cents"] as const).find((each) => left[each] === 0);
}

/** As people see it. `now`: the store's clock. */
export function shownGoal(thread: Pick<Thread, "runs">, goal: Goal, now: number): ShownGoal {
  const { started, budget, status, end, pause, tasks, plans, report } = goal;
  const used = usedBy(goal, end?.at ?? now);
  const run = goalRun(thread, goal);
  const of = (name: "steps" | "minutes" | "tokens") => ({ used: used[name], of: budget[name] });
  return {
    goal: started.goal,
    text: goal.stoppedBy === REMOVAL ? REMOVED : started.text,
    by: started.by?.name,
    schedule: started.schedule,
    startedAt: started.at,
    endedAt: end?.at,
    status: status === "ended" ? (end?.status ?? "stopped") : status,
    why: status === "paused" ? pause?.text : undefined,
    pause: pause?.why,
    waits: run !== undefined && waitsForPeople(thread, run),
    tasks: [...tasks.values()].map(shownTask),
    now: doingNow(goal),
    plans,
    budget: {
      steps: of("steps"),
      minutes: of("minutes"),
      tokens: of("tokens"),
      cents: budget.cents === undefined ? undefined : { used: used.cents, of: budget.cents },
    },
    microdollars: goal.used.money.microdollars,
    report,
    answer: end?.text,
  };
}

function shownTask({ task, text, status, depth, tries, reason }: GoalTask): ShownGoalTask {
  return { task, text, status, depth, tries, reason };
}

function doingNow({ status, work, isPlanDue }: Goal): ShownGoal["now"] {
  if (work !== undefined && status !== "ended") {
    const { task, run, ended } = work;
    // A call that was begun goes on to its end, paused or not.
    return { doing: ended === undefined ? "working" : "judging", task, run };
  }
  return status === "running" && isPlanDue ? { doing: "planning" } : undefined;
}
