import type { Entry } from "../core/entry.ts";
import {
  delayedCallOf,
  entryId,
  noticeId,
  numberOfCall,
  pageOver,
  readCardState,
} from "./entry-ids.ts";
import { showAgain, showCard, touch } from "./fold-actions.ts";
import { findCall } from "./fold-calls.ts";
import { noteToldOver } from "./fold-alerts.ts";
import { showLiving } from "./fold-living.ts";
import { forget } from "./fold-memory.ts";
import { ROOT, showRoot } from "./fold-root.ts";
import { refuseReply } from "./fold-messages.ts";
import { applyPointer, discharge, showQuote } from "./fold-views.ts";
import { keepLive, showLive, viewsOf } from "./live-notices.ts";
import type { Thread } from "./state.ts";

export function applyNotice(thread: Thread, entry: Entry<"notice">): void {
  if (entry.parks === true) thread.parked = true;
  if (entry.answers !== undefined) {
    forget(thread, entry.answers);
    refuseReply(thread, entry.answers);
    noteToldOver(thread, entry);
  }
  if (entry.instead !== undefined) thread.assents.delete(entry.instead);
  if (entry.warns !== undefined) markWarned(thread, entry, entry.warns);
  markPaged(thread, entry.id);
  if (entry.verifies !== undefined) applyVerdict(thread, entry, entry.verifies);
  const waiting = entry.waitsFor === undefined ? undefined : findCall(thread, entry.waitsFor);
  if (waiting !== undefined) waiting.waits = true;
  const delayed = findCall(thread, delayedCallOf(entry.id) ?? "");
  if (delayed !== undefined) delayed.isDelayTold = true;
  keepLive(thread, entry);
  if (entry.asks !== undefined) {
    const call = findCall(thread, entry.asks.call);
    if (call !== undefined) call.asked = entry;
  }
  thread.outbox.set(entry.id, {
    kind: "notice",
    id: entry.id,
    seq: entry.seq,
    notice: entry,
    views: new Set(viewsOf(thread, entry)),
  });
  const redrawn = thread.actions.get(entry.redraws ?? "");
  if (redrawn !== undefined) touch(thread, redrawn, entry);
}

/** What was changed and did not come to what it was for shows no success, whoever cites it. */
function applyVerdict(
  thread: Thread,
  entry: Entry<"notice">,
  { call, verdict }: NonNullable<Entry<"notice">["verifies"]>,
): void {
  const action = thread.checks.get(call)?.of.action;
  if (action !== undefined) {
    action.verified = verdict;
    touch(thread, action, entry);
  }
  const isCited = thread.checks.get(call)?.isCited === true;
  thread.checks.delete(call);
  const number = numberOfCall(call);
  if (verdict === "not done" && isCited && thread.evidence.get(number) === "changed")
    thread.evidence.set(number, "unmet");
}

/** People were paged, or it is told why not. */
function markPaged({ pages }: Thread, notice: string): void {
  for (const [action, page] of pages) {
    if (notice === noticeId.paged(action)) page.isOpen = true;
    else if (notice === noticeId.pageDelayed(action)) page.isDelayTold = true;
    else if (notice === noticeId.notPaged(action) || notice === noticeId.pageStuck(action))
      pages.delete(action);
  }
}

/** The people were told that an action or a question is about to expire. */
function markWarned(thread: Thread, notice: Entry<"notice">, id: string): void {
  const action = thread.actions.get(id);
  if (action !== undefined && notice.id === noticeId.escalated(id)) {
    action.escalated = true;
    if (action.proposal.escalation?.page !== undefined)
      thread.pages.set(id, { action, isOpen: false, isDelayTold: false });
    return;
  }
  const waiting = action ?? findCall(thread, id);
  if (waiting !== undefined) waiting.warned = notice.id === noticeId.halfway(id) ? "once" : "last";
}

/** The pager knows that nobody is needed any more. False when the entry is about something else. */
export function dropPage({ pages }: Thread, entry: string): boolean {
  for (const action of pages.keys()) if (entry === pageOver(action)) return pages.delete(action);
  return false;
}

/** The message in which the run's progress is shown, until its answer comes. */
export function applyProgressMessage(
  thread: Thread,
  { view, entry, ref }: Entry<"delivered">,
): void {
  for (const run of thread.runs.values())
    if (entryId.runEnded(run.started.run) === entry) run.progressMessages.set(view, ref);
}

export function acknowledge(thread: Thread, delivered: Entry<"delivered">): void {
  const { view, entry } = delivered;
  if (applyPointer(thread, delivered) || showQuote(thread, delivered)) return;
  if (takesMessages(thread, delivered)) showAgain(thread, delivered);
  if (showLive(thread, delivered) || discharge(thread, entry, view)) return;
  const card = readCardState(entry);
  const action = thread.actions.get(card.of);
  if (action !== undefined) showCard(thread, action, delivered, card.seq);
  else if (card.of === ROOT) showRoot(thread, delivered, card.seq);
  else showLiving(thread, delivered, card);
}

/** Something that is for everybody stands in the view. */
function takesMessages({ outbox }: Thread, { entry, ref, instead }: Entry<"delivered">): boolean {
  const item = outbox.get(entry);
  const isAloud = item?.kind === "notice" ? item.notice.to === undefined : item !== undefined;
  return isAloud && instead === undefined && ref !== "";
}
