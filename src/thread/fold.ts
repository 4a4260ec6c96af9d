import { totalTokens } from "../core/block.ts";
import { spend } from "./spending.ts";
import { type Entry, isPost, type Kind, type PostKind, type StoredEntry } from "../core/entry.ts";
import type { Action } from "./action.ts";
import { applyAlertState } from "./fold-alerts.ts";
import { noteInRoom } from "./addressed.ts";
import { noteInDigest } from "./digest.ts";
import {
  applyClosed,
  applyLook,
  applyProposal,
  applyRevoked,
  applyVote,
  closeOpen,
  endEditing,
  endGrant,
} from "./fold-actions.ts";
import {
  applyFinished,
  applyLateWord,
  applySettled,
  applyStarted,
  findCall,
} from "./fold-calls.ts";
import { applyEdited, applyRemoved } from "./fold-edits.ts";
import { fillOverflow, TURNS_EACH } from "./filling.ts";
import { applyIncidentState } from "./fold-living.ts";
import { noteRoot } from "./fold-root.ts";
import { applyMessage, applyName } from "./fold-messages.ts";
import {
  applyMoved,
  applyViewAdded,
  applyViewRemoved,
  changeQuote,
  quote,
  tellMoved,
} from "./fold-views.ts";
import { acknowledge, applyNotice, applyProgressMessage, dropPage } from "./fold-outbox.ts";
import {
  applyAbove,
  applyCondensed,
  applyExtended,
  applyTurn,
  applyRunEnded,
  applyRunStarted,
} from "./fold-runs.ts";
import { applyGate } from "./model-run.ts";
import { applyPlan } from "./plan.ts";
import { noteSilenceOver } from "./silences.ts";
import { isOf } from "./family.ts";
import { stopBeside } from "./side-run.ts";
import { isInner, isReader, Thread } from "./state.ts";
import type { Call } from "./call.ts";
import { noteOffer } from "./incident-offer.ts";
import {
  applyGoalJudged,
  applyGoalPlanned,
  applyGoalStarted,
  applyGoalState,
  noteGoal,
} from "./goals/fold.ts";
import { goalAtWork } from "./goals/goal.ts";
import { THE_GOAL } from "../core/goal.ts";
import { applyReportWritten, noteGoalMessage, REPORT_VIEW } from "./goals/message.ts";
import { noteRecord, RECORD_VIEW } from "./record.ts";
import { MEMORY_VIEW, noteTask } from "./task.ts";
import { whatOf } from "./phrases.ts";

/** Raised with each change of what entries come to, here or in a transcript: what was folded before is not taken up again. */
export const FOLD_VERSION = 3;

/**
 * Folds entries into a thread, in place and in constant time each, and returns it. The same entries always give the same
 * thread, and every prefix gives a valid one. Stops for good at a newer program's entry.
 */
export function fold(thread: Thread, entries: readonly StoredEntry[]): Thread {
  for (const entry of entries) {
    if (thread.newer !== undefined) break;
    if (entry.kind === "newer") {
      thread.newer = entry;
      break;
    }
    thread.last = entry.seq;
    thread.head = entry.head;
    apply(thread, entry);
    const call = entry.kind === "tool_finished" ? findCall(thread, entry.call) : undefined;
    noteTask(thread, entry, call);
    noteRecord(thread, entry, call);
    noteRoot(thread, entry);
    noteOffer(thread, entry, call);
    noteGoal(thread, entry, call);
    noteGoalMessage(thread, entry);
  }
  return thread;
}

/** An action as it stands at the end of a thread's entries, also one that its fold has forgotten. */
export function pastAction(entries: readonly StoredEntry[], id: string): Action | undefined {
  return fold(new Thread({ keepsAll: true }), entries).actions.get(id);
}

function apply<K extends Kind>(thread: Thread, entry: Entry<K>): void {
  const isPersonal = isPost(entry) && IS_PERSONAL[entry.kind];
  if (isPersonal && thread.moved !== undefined) {
    tellMoved(thread, entry.id, "actor" in entry ? entry.actor.account : undefined);
    return;
  }
  if (isPersonal) thread.parked = false;
  noteInRoom(thread.room, entry);
  noteInDigest(thread, entry);
  APPLIED[entry.kind]?.(thread, entry);
}

type Applied = {
  readonly [K in Kind]: ((thread: Thread, entry: Entry<K>) => void) | undefined;
};

const APPLIED: Applied = {
  message(thread, entry) {
    quote(thread, entry);
    applyMessage(thread, entry);
  },
  command(thread, entry) {
    quote(thread, entry);
    applyName(thread, entry);
    thread.pending.set(entry.id, { entry, stopped: false });
  },
  edited(thread, entry) {
    changeQuote(thread, entry);
    applyEdited(thread, entry);
  },
  removed(thread, entry) {
    changeQuote(thread, entry);
    applyRemoved(thread, entry);
  },
  click(thread, entry) {
    applyName(thread, entry);
    if (!applyLook(thread, entry)) thread.clicks.set(entry.id, entry);
  },
  stop,
  timer: timeHasCome,
  signal: applyLateWord,
  alarm(thread, { id, text }) {
    thread.untold.set(id, { id, about: { kind: "alarm", text } });
  },
  run_started: applyRunStarted,
  extended: applyExtended,
  run_ended: applyRunEnded,
  above: applyAbove,
  assistant(thread, entry) {
    const run = thread.runs.get(entry.run);
    // A side run's request is not the one that the thread grows by, and nothing of a helper's is in any other.
    if (run === undefined || !isInner(run)) {
      if (isReader(run)) thread.requestTokens += entry.usage.output;
      else {
        thread.requestTokens = totalTokens(entry.usage);
        thread.turns += TURNS_EACH;
      }
    }
    applyTurn(thread, entry);
  },
  condensed: applyCondensed,
  overflow(thread, entry) {
    const modelRun = thread.runs.get(entry.run)?.modelRun;
    if (modelRun !== undefined) fillOverflow(modelRun.filling, entry);
  },
  gate(thread, entry) {
    const modelRun = thread.runs.get(entry.run)?.modelRun;
    if (modelRun !== undefined) applyGate(modelRun, entry);
  },
  plan(thread, entry) {
    const { run, thought } = entry;
    if (thought !== undefined) spend(thread, { run, ...thought });
    const modelRun = thread.runs.get(run)?.modelRun;
    if (modelRun !== undefined) applyPlan(modelRun, entry);
  },
  view_added: applyViewAdded,
  view_removed: applyViewRemoved,
  notice: applyNotice,
  delivered(thread, entry) {
    if (entry.view === MEMORY_VIEW) {
      if (thread.task.owed === entry.entry) thread.task.owed = undefined;
      return;
    }
    if (entry.view === REPORT_VIEW) return applyReportWritten(thread, entry.entry);
    if (entry.view === RECORD_VIEW) {
      thread.record.owed.delete(entry.entry);
      return;
    }
    if (thread.marks.delete(entry.entry) || thread.alarms.delete(entry.entry)) return;
    if (dropPage(thread, entry.entry)) return;
    if (entry.stage === "final") acknowledge(thread, entry);
    else applyProgressMessage(thread, entry);
  },
  action_proposed: applyProposal,
  vote: applyVote,
  action_closed: applyClosed,
  tool_started: applyStarted,
  tool_finished: applyFinished,
  grant_revoked: applyRevoked,
  settled: applySettled,
  goal_started: applyGoalStarted,
  goal_planned: applyGoalPlanned,
  goal_judged: applyGoalJudged,
  goal_state: applyGoalState,
  incident_state: applyIncidentState,
  alert_state: applyAlertState,
  // In journals that are no threads.
  alert: undefined,
  alert_thread: undefined,
  alert_told: undefined,
  incident: undefined,
  tenant: undefined,
  tool_form: undefined,
  freeze: undefined,
  feedback: undefined,
  memory: undefined,
  secret: undefined,
  mirror: undefined,
  moved: applyMoved,
};

/** Who posts it: a person, or a clock, another worker or the program itself. */
const IS_PERSONAL: Readonly<Record<PostKind, boolean>> = {
  message: true,
  command: true,
  edited: true,
  removed: false,
  click: true,
  stop: true,
  incident: false,
  incident_state: false,
  alert: false,
  alert_state: false,
  timer: false,
  signal: false,
  alarm: false,
  tenant: false,
  tool_form: false,
  freeze: false,
  feedback: false,
  memory: false,
  secret: false,
  mirror: false,
  moved: false,
};

function stop(thread: Thread, entry: Entry<"stop">): void {
  const { id, goal: meant } = entry;
  const atWork = goalAtWork(thread);
  const isOfGoal = meant !== undefined;
  const goal =
    entry.run === undefined && (!isOfGoal || meant === THE_GOAL || atWork?.started.goal === meant)
      ? atWork
      : undefined;
  if (goal !== undefined) goal.stoppedBy ??= entry.actor.name;
  // Of a goal that has no run nothing else is meant.
  const named = entry.run ?? (isOfGoal ? (goal?.work?.run ?? "") : undefined);
  if (named === undefined) {
    thread.stoppedAt = entry.seq;
    stopBeside(thread);
  }
  const runs = [...thread.going].filter(({ started }) => isMeant(thread, started.run, named));
  const pending = named === undefined ? [...thread.pending.values()] : [];
  const written = runs
    .flatMap((run) => [...run.open.values()])
    .filter((call) => call.started?.effect !== "read" && isRunning(call));
  if (runs.length === 0 && pending.length === 0 && goal === undefined) {
    thread.untold.set(id, { id, to: entry.actor.account, about: { kind: "nothing_runs" } });
  } else if (written.length > 0) {
    thread.untold.set(id, { id, about: { kind: "stopping", calls: written.map(whatOf) } });
  }
  const stoppable = [...pending, ...runs].filter(({ stopped }) => !stopped);
  for (const each of stoppable) {
    each.stopped = true;
    each.stoppedBy = entry.actor.name;
  }
  for (const action of thread.live)
    if (isMeant(thread, action.run, named)) closeOpen(thread, action, entry);
  if (named !== undefined) return;
  for (const grant of thread.grants.values()) endGrant(thread, grant, { how: "stopped" }, entry);
}

/** A Stop that names no run means every one; one that does means its helpers too. */
function isMeant(thread: Thread, run: string, named: string | undefined): boolean {
  return named === undefined || isOf(thread, run, named);
}

function timeHasCome(thread: Thread, entry: Entry<"timer">): void {
  const look = thread.looks.get(entry.looks ?? "");
  if (look !== undefined) look.isDue = true;
  const check = thread.checks.get(entry.call ?? "");
  if (check !== undefined) check.isDue = true;
  noteSilenceOver(thread, entry);
  const grant = thread.grants.get(entry.grant ?? "");
  if (grant !== undefined) endGrant(thread, grant, { how: "expired" }, entry);
  const action = thread.actions.get(entry.action ?? "");
  if (action !== undefined) closeOpen(thread, action, entry);
  const edited = thread.actions.get(entry.edited ?? "");
  if (edited !== undefined) endEditing(thread, edited, entry);
}

function isRunning(call: Call): boolean {
  return call.started !== undefined && call.finished === undefined;
}
