import type { Entry } from "../core/entry.ts";
import { close, isOpen } from "./action.ts";
import { isEditOf, untoldId } from "./entry-ids.ts";
import { isOf, stopRun } from "./family.ts";
import { touch } from "./fold-actions.ts";
import { heardAnew } from "./addressed.ts";
import { applyMessage, applyName, applyVoice } from "./fold-messages.ts";
import { goalAtWork, goalRun } from "./goals/goal.ts";
import { REMOVAL } from "./goals/phrases.ts";
import { steer } from "./model-run.ts";
import * as phrases from "./phrases.ts";
import { rejoinFirst } from "./side-run.ts";
import type { PendingPost, Run, Thread } from "./state.ts";

/**
 * What people change or take back. An edit of what nobody has taken up replaces it; of what a run works on it ends the
 * run's open cards and is told to its model, or is a command of its own. What was answered stays answered.
 */
export function applyEdited(thread: Thread, entry: Entry<"edited">): void {
  const { id, seq, at, head, actor, of, text, command } = entry;
  const anew = heardAnew(thread.room, entry);
  if (anew !== undefined) {
    applyMessage(thread, anew);
    return;
  }
  applyName(thread, entry);
  applyVoice(thread, actor.account, entry);
  const said = { seq, at, actor, text, ...(head !== undefined && { head }) };
  const as = (post: string): Entry<"message"> | Entry<"command"> =>
    command === undefined
      ? { ...said, id: post, kind: "message" }
      : { ...said, id: post, kind: "command", command };
  const pending = thread.pending.get(of);
  if (pending !== undefined) {
    if (pending.entry.actor.account === actor.account) replace(pending, as(of), entry);
    return;
  }
  const run = runOf(thread, of);
  if (run === undefined || run.stopped || run.messages.get(of) !== actor.account) return;
  closeCards(thread, run, entry, actor.name, phrases.closings.edited);
  const now = as(id);
  const { modelRun } = run;
  if (modelRun === undefined || now.kind === "command") {
    // A command that runs already is not asked for twice.
    const hasBegun = [...run.calls.values()].some(({ started }) => started !== undefined);
    if (modelRun !== undefined || !hasBegun) thread.pending.set(id, { entry: now, stopped: false });
    return;
  }
  run.messages.set(id, actor.account);
  modelRun.unseen = modelRun.unseen.filter((message) => message.id !== of);
  steer(modelRun, now, run.started.principals.includes(actor.account));
}

/** What came with it stays; to whom it is, its author may have changed. */
function replace(
  pending: PendingPost,
  now: Entry<"message"> | Entry<"command">,
  { address, tone }: Entry<"edited">,
): void {
  const { entry: before } = pending;
  pending.entry = now;
  if (address?.bot === true) pending.unsure = false;
  if (before.kind !== "message" || now.kind !== "message") return;
  const { tone: _, ...kept } = before;
  const isWords = kept.files === undefined && kept.unread === undefined;
  pending.entry = {
    ...kept,
    ...now,
    ...(address && { address }),
    ...(tone !== undefined && isWords && { tone }),
  };
}

/** Cancels what was not begun: a run goes on only for what others still say. */
export function applyRemoved(thread: Thread, entry: Entry<"removed">): void {
  const isGone = (id: string) => id === entry.of || isEditOf(id, entry.of);
  for (const due of Object.values(untoldId)) thread.untold.delete(due(entry.of));
  for (const said of [thread.pending, thread.untold, thread.assents])
    for (const id of said.keys()) if (isGone(id)) said.delete(id);
  stopGoalOf(thread, entry, isGone);
  const run = runOf(thread, entry.of);
  if (run === undefined) return;
  const { modelRun } = run;
  if (modelRun !== undefined) modelRun.unseen = modelRun.unseen.filter(({ id }) => !isGone(id));
  for (const id of run.messages.keys()) if (isGone(id)) run.messages.delete(id);
  closeCards(thread, run, entry, undefined, phrases.closings.removed);
  if (run.messages.size === 0) stopRun(run);
}

/** Nobody wants any more what the message wanted. */
function stopGoalOf(thread: Thread, entry: Entry<"removed">, isGone: (id: string) => boolean) {
  const goal = goalAtWork(thread);
  const { post } = goal?.started ?? {};
  if (goal === undefined || post === undefined || !isGone(post)) return;
  goal.stoppedBy ??= REMOVAL;
  const run = goalRun(thread, goal);
  if (run === undefined) return;
  closeCards(thread, run, entry, undefined, phrases.closings.removed);
  stopRun(run);
}

/** The run that still works on the message. */
function runOf({ going }: Thread, message: string): Run | undefined {
  for (const run of going) if (run.messages.has(message)) return run;
  return undefined;
}

function closeCards(
  thread: Thread,
  run: Run,
  entry: Entry<"edited"> | Entry<"removed">,
  by: string | undefined,
  why: string,
): void {
  for (const action of thread.live) {
    if (!isOf(thread, action.run, run.started.run) || !isOpen(action)) continue;
    close(action, "cancelled", by, why);
    touch(thread, action, entry);
  }
  rejoinFirst(thread);
}
