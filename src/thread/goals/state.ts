import { NO_USAGE, type Usage } from "../../core/block.ts";
import type { Actor, Entry } from "../../core/entry.ts";
import type { Budget } from "../../core/budget.ts";
import type { GoalPause, GoalSection, GoalTaskStatus } from "../../core/goal.ts";
import type { ShownGoalMessage } from "../shown-living.ts";
import { type Money, NO_MONEY } from "../../core/money.ts";

/** A goal as its thread's entries say: everything that decides how it goes on. */
export interface Goal {
  readonly started: Entry<"goal_started">;
  /** With what it was extended by. */
  budget: Budget;
  status: "running" | "paused" | "ended";
  pause: { why: GoalPause; by: string | undefined; text: string | undefined } | undefined;
  end: Entry<"goal_state"> | undefined;
  /** Who pressed or wrote Stop. */
  stoppedBy: string | undefined;
  /** Tools that have to be called before it counts as done. */
  readonly requires: string[];
  /** All that were planned, in the order in which they were; what a later plan left out before it was begun is gone. */
  readonly tasks: Map<string, GoalTask>;
  /** Those that wait, the next one first. */
  queue: string[];
  /** The task that is being done, or is done and has to be judged. */
  work: GoalWork | undefined;
  /** How many tasks were named, plans made and states written down. */
  named: number;
  plans: number;
  states: number;
  /** It has to be planned before anything else. */
  isPlanDue: boolean;
  /** Tasks that were judged since it was planned last. */
  judged: number;
  /** Plans in a row that left nothing to do and did not say that all is done. */
  empty: number;
  /** Requests in a row that gave no plan or verdict, and runs that failed by no fault of their task. */
  failures: number;
  /** What the newest of them was. */
  why: string | undefined;
  /** Tasks in a row that brought nothing new. */
  barren: number;
  /** The newest plan says that all is done. */
  answer: { text: string | undefined } | undefined;
  /** What those who want it said since it began, the newest last. */
  words: GoalWord[];
  notes: GoalNote[];
  /** Tools that were called in it and went well. */
  readonly called: Set<string>;
  /** What its calls brought so far, as far as that tells one result from another. */
  readonly results: Set<string>;
  readonly report: GoalSection[];
  readonly used: GoalUse;
  /** Who extended it, each time by name. */
  extendedBy: string[];
  readonly message: ShownGoalMessage;
  /** It has ended, and its report is to be written into the folder for reports, where there is one. */
  isReportOwed: boolean;
}

export interface GoalTask {
  readonly task: string;
  readonly text: string;
  readonly requires: readonly string[];
  /** The split task that it is a part of. */
  readonly parent: string | undefined;
  /** 0 for one of a plan's own. */
  readonly depth: number;
  status: GoalTaskStatus;
  /** How often it was begun, runs that failed by no fault of its not counted. */
  tries: number;
  /** How often it was judged, in vain too. */
  judgements: number;
  /** Why it is to be tried again, was split or given up. */
  reason: string | undefined;
  /** Tools that were called for it and went well, in all its tries. */
  readonly called: Set<string>;
}

export interface GoalWork {
  readonly task: string;
  readonly run: string;
  /** Calls of it that were made. */
  calls: number;
  /** One of them brought what none had brought. */
  isNew: boolean;
  ended: Entry<"run_ended"> | undefined;
}

interface GoalWord {
  readonly id: string;
  /** Of the entry that said it so. */
  readonly seq: number;
  readonly at: number;
  readonly by: Actor;
  readonly text: string;
}

/** A line of what was found: a call's result, a task's answer, or what a run noted itself. */
export interface GoalNote {
  readonly kind: "result" | "answer" | "note";
  readonly task: string;
  readonly text: string;
  readonly seq: number;
}

interface GoalUse {
  steps: number;
  usage: Usage;
  money: Money;
  /** On the clock, without what it was paused or waited for people, up to `since`. */
  ms: number;
  /** Since when time counts; undefined: now it does not. */
  since: number | undefined;
}

export function newGoal(started: Entry<"goal_started">): Goal {
  const { budget, requires = [], at, seq } = started;
  return {
    started,
    budget,
    status: "running",
    pause: undefined,
    end: undefined,
    stoppedBy: undefined,
    requires: [...requires],
    tasks: new Map(),
    queue: [],
    work: undefined,
    named: 0,
    plans: 0,
    states: 0,
    isPlanDue: true,
    judged: 0,
    empty: 0,
    failures: 0,
    why: undefined,
    barren: 0,
    answer: undefined,
    words: [],
    notes: [],
    called: new Set(),
    results: new Set(),
    report: [],
    used: { steps: 0, usage: NO_USAGE, money: NO_MONEY, ms: 0, since: at },
    extendedBy: [],
    message: { state: started, openedAt: seq, touched: seq, turned: seq, shown: new Map() },
    isReportOwed: false,
  };
}
