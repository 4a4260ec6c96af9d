/** Long work that goes on without people: its words, and how it is shown. Its entries: `goal-appends.ts`. */

/** Stores keep these by their places. `split`: its parts are done in its place. */
export const GOAL_VERDICTS = ["done", "retry", "split", "abandon"] as const;

export type GoalVerdict = (typeof GOAL_VERDICTS)[number];

/** How a goal ends. `partly`: not all that was wanted came about, or nobody can say that it did. */
export const GOAL_ENDS = ["done", "partly", "failed", "stopped"] as const;

export type GoalEnd = (typeof GOAL_ENDS)[number];

/** Why a goal waits: somebody paused it, a budget is used up, or no model can plan or judge. */
export const GOAL_PAUSES = ["person", "budget", "trouble"] as const;

export type GoalPause = (typeof GOAL_PAUSES)[number];

/** `failed`: its run did. `abandoned`: it was given up. */
export type GoalTaskStatus = "pending" | "running" | "done" | "split" | "failed" | "abandoned";

export const GOAL_MARKS: Readonly<Record<GoalTaskStatus, string>> = {
  pending: "[ ]",
  running: "[>]",
  done: "[x]",
  split: "[/]",
  failed: "[!]",
  abandoned: "[-]",
};

/** Tools that only the runs of goals have. */
export const GOAL_TOOLS = {
  note: "write_note",
  completed: "list_completed",
  summarize: "summarize",
  report: "append_to_report",
} as const;

/** How a goal that has ended is told to people. */
export const GOAL_END_WORDS: Readonly<Record<GoalEnd, string>> = {
  done: "done",
  partly: "ended, and not all of it is done",
  failed: "failed",
  stopped: "stopped",
};

/** A task as people see it. */
export interface ShownGoalTask {
  readonly task: string;
  readonly text: string;
  readonly status: GoalTaskStatus;
  /** 0 for one of the plan's own, 1 for a part of one that was split. */
  readonly depth: number;
  /** How often it was begun. */
  readonly tries: number;
  /** Why it is to be tried again, or was given up. */
  readonly reason: string | undefined;
}

export interface UsedOf {
  readonly used: number;
  readonly of: number;
}

/** A part of the report, in the order in which they were written. */
export interface GoalSection {
  /** The call that wrote it. */
  readonly call: string;
  readonly heading: string | undefined;
  readonly text: string;
}

/** A goal as it stands. */
export interface ShownGoal {
  readonly goal: string;
  readonly text: string;
  /** Who began it; undefined: a schedule did. */
  readonly by: string | undefined;
  readonly schedule: string | undefined;
  /** Ms since 1970. */
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly status: "running" | "paused" | GoalEnd;
  /** Why it is paused or how it ended, a sentence. */
  readonly why: string | undefined;
  readonly pause: GoalPause | undefined;
  /** It goes on as soon as people decide on a card of its. */
  readonly waits: boolean;
  readonly tasks: readonly ShownGoalTask[];
  readonly now:
    | { readonly doing: "planning" }
    | { readonly doing: "working" | "judging"; readonly task: string; readonly run: string }
    | undefined;
  /** How often it was planned. */
  readonly plans: number;
  /** `minutes`: on the clock, since it began, without those in which it was paused or only waited for people to decide. */
  readonly budget: {
    readonly steps: UsedOf;
    readonly minutes: UsedOf;
    readonly tokens: UsedOf;
    /** Absent: money has no limit. */
    readonly cents: UsedOf | undefined;
  };
  readonly microdollars: number;
  readonly report: readonly GoalSection[];
  /** What came of it, once it has ended. */
  readonly answer: string | undefined;
}

/** Of what is wanted, in characters: it has to fit one message of any platform, and every prompt of its planner. */
export const MAX_GOAL_TEXT = 4_000;

/** As people type it: the one of the thread. */
export const THE_GOAL = "goal";

/** What a click is about: a goal by its name, or the one of its thread. */
export function isGoal(ref: string): boolean {
  return /^(?:goal|g[1-9]\d*)$/.test(ref);
}
