import type { NextTurn } from "./decide-run.ts";
import type { ModelRun } from "./model-run.ts";
import type { Action, Grant } from "./action.ts";
import type { Planning } from "../core/plan.ts";
import type { Goal, GoalTask, GoalWork } from "./goals/state.ts";
import type { Entry } from "../core/entry.ts";
import type { RecordOwed } from "./record-notes.ts";
import type { Undelivered } from "./undelivered.ts";
import type { Waiting } from "./waiting.ts";
import type { Absence, Elsewhere } from "./machines.ts";
import type { LaterCheck, LaterLook, Page, PendingPost, Run, Untold, UntoldFact } from "./state.ts";
import type { Call } from "./call.ts";
import type { ShownAlerts, Silence } from "./shown-living.ts";
import type { Showing } from "./shown-work.ts";

/** What can be done next in a thread, and what of its surroundings decides that. */

/**
 * What the lease holder does next. `key`: something has to be learned for it, which takes time; it names that work, so that
 * it is not begun twice while it is in progress.
 */
export type Step =
  | { do: "recover"; key: string; call: Call }
  | { do: "show"; key: string; view: string; run: Run }
  | { do: "deliver"; key: string; view: string; undelivered: Undelivered }
  /** A long thread has been quiet for a while, and what it came to is not in its summary. */
  | { do: "sum"; key: string; view: string }
  /** The message in the channel that the thread began with is to say how its alerts stand. */
  | { do: "root"; key: string; view: string }
  /** The journal of a view's own place is to point here, or no more. */
  | { do: "point"; key: string; view: string; isOver: boolean }
  | { do: "judge"; key: string; click: Entry<"click"> }
  | { do: "tell"; untold: Untold }
  | { do: "hint"; key: string; message: Entry<"message"> }
  | { do: "warn"; waiting: Waiting }
  /** It has waited for so long that others are told. */
  | { do: "escalate"; action: Action }
  | { do: "lapse"; call: Call }
  | { do: "close"; action: Action }
  /** What an older version asked for without naming its machine. */
  | { do: "renew"; action: Action }
  | { do: "begin"; pending: PendingPost }
  /** It is answered with what is frozen, as far as that may be seen in the thread. */
  | { do: "survey"; key: string; pending: PendingPost }
  /** Whether whoever wants a goal may have one. */
  | { do: "admit"; key: string; pending: PendingPost }
  | { do: "cancel"; call: Call }
  | { do: "prepare"; key: string; call: Call }
  | { do: "dispatch"; key: string; call: Call; action: Action }
  | { do: "reply"; key: string; call: Call; reply: Entry<"message"> }
  /** To read what stands above the messages that the run answers, and what is remembered of what they ask. */
  | { do: "look"; key: string; run: Run }
  | { do: "think"; key: string; run: Run; modelRun: ModelRun }
  /** To ask its model for a summary of what it was told. */
  | { do: "condense"; key: string; run: Run; modelRun: ModelRun }
  /** A plan is made before the model is first asked. */
  | { do: "plan"; key: string; run: Run; modelRun: ModelRun; strategy: Planning }
  /** The thread's goal: what is to be done next, and whether a task was done. */
  | { do: "planGoal"; key: string; goal: Goal }
  | { do: "judgeTask"; key: string; goal: Goal; task: GoalTask; work: GoalWork }
  /** Its next task is begun, or what else follows at once. */
  | { do: "moveGoal" }
  | Extract<NextTurn, { do: "write" }>
  | { do: "hush"; run: Run }
  /** What a first look found is told to the model that is asked next. */
  | { do: "note"; run: Run }
  /** A group of alerts is looked into. */
  | { do: "triage"; alerts: ShownAlerts }
  /** What was broken before an action is looked at again: the time has come, and then it is. */
  | { do: "ringLook"; look: LaterLook }
  | { do: "again"; look: LaterLook }
  /** A check that another machine does not take up is done without. */
  | { do: "cut"; call: Call; limitMs: number }
  | { do: "end"; run: Run }
  /** A helper has ended: its report is the result of the call that asked for it. */
  | { do: "report"; call: Call; helper: Run }
  | { do: "expire"; action: Action }
  /** The form that somebody opened to edit it counts as closed. */
  | { do: "forget"; action: Action }
  /** A call is to be looked at again: the time has come, and then it is. */
  | { do: "ring"; check: LaterCheck }
  /** A grant's time is over. */
  | { do: "lapseGrant"; grant: Grant }
  /** A silence's. */
  | { do: "lapseSilence"; silence: Silence }
  | { do: "verify"; key: string; check: LaterCheck }
  /** It is to be marked elsewhere that this call is done. */
  | { do: "mark"; key: string; done: Call }
  /** The operations channel is told it too. */
  | { do: "alarm"; key: string; entry: string; about: UntoldFact }
  /** Memory is to keep what the thread found out, as of that entry. */
  | { do: "remember"; key: string; entry: string }
  /** The records of the thread's incidents are to say what happened. */
  | { do: "record"; key: string; owed: RecordOwed }
  /** The report of a goal that has ended is to be written into the folder for them. */
  | { do: "writeReport"; key: string; goal: Goal }
  /** Its rule pages people: they are to be, or are not needed any more. */
  | { do: "page"; key: string; page: Page; isOver: boolean }
  | { do: "hosts"; key: string }
  /** Which channel the thread is in: what a run begins with depends on it. */
  | { do: "where"; key: string }
  | { do: "abandon"; call: Call; host: string; absence: Absence }
  | { do: "await"; call: Call; host: string }
  /** Nothing now, or only what `host` can do; `until`: when time alone makes something due, for everybody. */
  | { do: "wait"; until: number | undefined; host?: string };

export type StepOf<D extends Step["do"]> = Extract<Step, { do: D }>;

export type LearningStep = Extract<Step, { key: string }>;

/** A step that writes entries, all of which follow from the thread. */
export type KnownStep = Exclude<
  Step,
  | LearningStep
  | { do: "expire" | "forget" | "ring" | "ringLook" | "lapseGrant" | "lapseSilence" | "wait" }
>;

export interface Situation extends Showing {
  /** A view here can read what stands above a message. */
  readsAbove?: boolean;
  /** What is alike is looked up for a run, and what a thread found is kept. */
  remembers?: boolean;
  /** What a run begins with depends on the channel, which is not known yet. */
  owesPlace?: boolean;
  /** Incidents can be recorded. */
  records?: boolean;
  /** There is a folder for the reports of goals. */
  reports?: boolean;
}

/** A situation, and what of the thread is for another machine. */
export interface Scene extends Situation {
  items: readonly Elsewhere[];
  left: ReadonlySet<Elsewhere["of"]>;
}
