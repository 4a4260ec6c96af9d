import { checkLimit } from "./checking.ts";
import { type Action, isOpen } from "./action.ts";
import { overDueAt } from "./fold-alerts.ts";
import { owedLiving } from "./undelivered.ts";
import { escalationTime, waitingIn } from "./waiting.ts";
import { checkTimes, timesOf } from "./machines.ts";
import { grantsIn, type Thread } from "./state.ts";
import { silencesIn } from "./silences.ts";
import { ornaments, unshown } from "./shown-work.ts";
import type { Scene } from "./steps.ts";

/** When time alone makes something due: the next expiry, the next run's message, or that a machine is gone. */
export function nextTime(thread: Thread, situation: Scene): number | undefined {
  let next = Infinity;
  const note = (...times: number[]) => void (next = Math.min(next, ...times));
  for (const each of thread.live) {
    if (isOpen(each)) note(each.proposal.expiresAt, endOfEditing(each), escalationTime(each));
  }
  for (const { until } of [...grantsIn(thread), ...silencesIn(thread)]) note(until);
  for (const { isDue, dueAt } of [...thread.checks.values(), ...thread.looks.values()])
    if (!isDue) note(dueAt);
  for (const { warnAt, expiresAt } of waitingIn(thread)) note(warnAt, expiresAt);
  for (const { at } of unshown(thread, situation)) note(at);
  for (const { at } of ornaments(thread, situation)) if (at > situation.now) note(at);
  for (const view of thread.views)
    for (const { dueAt } of owedLiving(thread, view)) if (dueAt > situation.now) note(dueAt);
  for (const alerts of thread.alerts.values()) note(overDueAt(alerts) ?? Infinity);
  for (const run of thread.going)
    for (const call of run.open.values()) {
      const limitMs = checkLimit(run, call.call);
      if (limitMs !== undefined && situation.left.has(call)) note(run.started.at + limitMs);
    }
  note(...timesOf(situation.items, situation), ...checkTimes(thread, situation));
  return next === Infinity ? undefined : next;
}

export function endOfEditing(action: Action): number {
  return isOpen(action) ? (action.editing?.until ?? Infinity) : Infinity;
}
