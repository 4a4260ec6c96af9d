import { type Action, isApproved, isOpen } from "../approvals/action.ts";
import type { Entry } from "../core/entry.ts";
import type { Call, Debt, Pending, Run, Thread, Word } from "../journal/fold.ts";

/** Something a view has yet to show. */
export type Delivery = { kind: "card"; action: Action } | { kind: "debt"; debt: Debt };

/** What the lease holder does next. `key` names the piece of work, so that one in progress is not begun twice. */
export type Step =
  | { do: "recover"; key: string; call: Call }
  | { do: "deliver"; key: string; view: string; delivery: Delivery }
  | { do: "judge"; key: string; click: Entry<"click"> }
  | { do: "tell"; word: Word }
  | { do: "close"; action: Action }
  | { do: "begin"; pending: Pending }
  | { do: "cancel"; call: Call }
  | { do: "prepare"; key: string; call: Call }
  | { do: "dispatch"; key: string; call: Call; action: Action }
  | { do: "end"; run: Run }
  | { do: "expire"; action: Action }
  /** Nothing now; `until`: when time alone makes something due. */
  | { do: "wait"; until: number | undefined };

export interface Situation {
  /** The store's clock, ms since 1970. */
  now: number;
  /** Work of this worker's in progress, by step key, and calls whose tool it is running, as `call:<id>`. */
  busy: ReadonlySet<string>;
  /** Shutting down: no tool is begun and no run, as in a parked thread. */
  draining: boolean;
}

/** Calls of one thread that are prepared or run side by side. */
const MAX_CALLS = 8;

/**
 * Decides from the fold alone, so every worker decides alike. Clicks, Stops and timers come before any dispatch; what is
 * owed to people comes before new work.
 */
export function nextStep(thread: Thread, situation: Situation): Step {
  return (
    recoverStep(thread, situation) ??
    deliverStep(thread, situation) ??
    (situation.draining ? undefined : clickStep(thread, situation)) ??
    endingStep(thread, situation) ??
    (isResting(thread, situation) ? undefined : workStep(thread, situation)) ?? {
      do: "wait",
      until: nextExpiry(thread),
    }
  );
}

function isResting({ parked }: Thread, { draining }: Situation): boolean {
  return draining || parked;
}

/** Started, not finished, and not running here: whoever started it is gone. */
function recoverStep(thread: Thread, situation: Situation): Step | undefined {
  const { busy } = situation;
  for (const run of thread.runs.values()) {
    for (const call of run.calls.values()) {
      const key = `call:${call.call}`;
      if (call.started === undefined || call.finished !== undefined || busy.has(key)) continue;
      // A read is simply run again, by the next start or once someone writes.
      if (isResting(thread, situation) && call.started.effect === "read") continue;
      return { do: "recover", key, call };
    }
  }
  return undefined;
}

/** The oldest thing owed to each view; one at a time, so that a thread reads in order. */
function deliverStep(thread: Thread, { busy }: Situation): Step | undefined {
  for (const view of thread.views) {
    const key = `view:${view}`;
    if (busy.has(key)) continue;
    const delivery = owedTo(thread, view);
    if (delivery !== undefined) return { do: "deliver", key, view, delivery };
  }
  return undefined;
}

function owedTo(thread: Thread, view: string): Delivery | undefined {
  let oldest: { seq: number; delivery: Delivery } | undefined;
  for (const action of thread.live) {
    const seq = action.touched;
    if ((action.shown.get(view)?.seq ?? 0) >= seq) continue;
    if (oldest === undefined || seq < oldest.seq) {
      oldest = { seq, delivery: { kind: "card", action } };
    }
  }
  for (const debt of thread.debts.values()) {
    if (!debt.views.has(view)) continue;
    if (oldest === undefined || debt.seq < oldest.seq) {
      oldest = { seq: debt.seq, delivery: { kind: "debt", debt } };
    }
    break; // debts are kept in order
  }
  return oldest?.delivery;
}

/** Clicks are judged in the order they were posted, one at a time. */
function clickStep(thread: Thread, { busy }: Situation): Step | undefined {
  for (const click of thread.clicks.values()) {
    return busy.has("judge") ? undefined : { do: "judge", key: "judge", click };
  }
  for (const word of thread.words.values()) return { do: "tell", word };
  return undefined;
}

/** What is over but not yet written down: expired and closed actions, calls of a stopped run, runs with nothing left to do. */
function endingStep(thread: Thread, { now }: Situation): Step | undefined {
  for (const action of thread.live) {
    if (isOpen(action) && now >= action.proposal.expiresAt) return { do: "expire", action };
    if (action.closed !== undefined && !action.closed.recorded) return { do: "close", action };
  }
  for (const run of thread.runs.values()) {
    if (run.ended !== undefined) continue;
    const calls = [...run.calls.values()];
    const idle = calls.find((call) => call.started === undefined && call.finished === undefined);
    if (idle !== undefined && run.stopped) return { do: "cancel", call: idle };
    if (calls.every((call) => call.finished !== undefined)) return { do: "end", run };
  }
  return undefined;
}

/** New runs, calls to prepare, approved actions to dispatch; no more calls at once than MAX_CALLS. */
function workStep(thread: Thread, { busy }: Situation): Step | undefined {
  for (const pending of thread.pending.values()) return { do: "begin", pending };
  if ([...busy].filter((key) => key.startsWith("call:")).length >= MAX_CALLS) return undefined;
  for (const run of thread.runs.values()) {
    if (run.ended !== undefined) continue;
    for (const call of run.calls.values()) {
      const key = `call:${call.call}`;
      if (call.finished !== undefined || busy.has(key)) continue;
      if (call.action === undefined) return { do: "prepare", key, call };
      const { action } = call;
      if (thread.clicks.size === 0 && isApproved(action))
        return { do: "dispatch", key, call, action };
    }
  }
  return undefined;
}

function nextExpiry(thread: Thread): number | undefined {
  const open = [...thread.live].filter(isOpen);
  return open.length === 0
    ? undefined
    : Math.min(...open.map((action) => action.proposal.expiresAt));
}
