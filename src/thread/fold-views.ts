import type { Entry } from "../core/entry.ts";
import { isOver } from "./action.ts";
import { readQuoteState, WHERE_IT_IS } from "./entry-ids.ts";
import { forgetRun, stopRun } from "./family.ts";
import { leaveIfShown } from "./fold-actions.ts";
import { passOver } from "./fold-living.ts";
import { forgetOldest } from "./fold-memory.ts";
import { dropViews } from "./live-notices.ts";
import { isAside } from "./said.ts";
import { MAIN_VIEW, type Quote, type Thread } from "./state.ts";
import { viewFor } from "./views.ts";

/** Where else a thread is shown, and what people say in one of its places, shown in the others. */

/** Messages whose edits and removals are followed in the other places. */
const MAX_QUOTES = 500;

export function applyViewAdded(thread: Thread, { view, channel }: Entry<"view_added">): void {
  if (thread.views.includes(view)) return;
  if (channel !== undefined) thread.channels.set(view, channel);
  thread.views.push(view);
  // What is over by then is the past: it is shown there no more than what was said.
  for (const action of thread.live)
    if (isOver(action))
      action.shown.set(view, { ref: "", seq: Infinity, read: 0, isRefused: true });
  passOver(thread, view);
  thread.pointers.set(view, "opening");
}

/** Nothing is owed to it any more but that its place says so. */
export function applyViewRemoved(thread: Thread, { view }: Entry<"view_removed">): void {
  const at = thread.views.indexOf(view);
  if (at < 0 || view === MAIN_VIEW) return;
  thread.views.splice(at, 1);
  thread.channels.delete(view);
  thread.pointers.set(view, "closing");
  for (const item of thread.outbox.values()) discharge(thread, item.id, view);
  for (const each of thread.quotes.values()) {
    each.views.delete(view);
    settle(thread, each);
  }
  dropViews(thread, view);
  for (const action of thread.live) if (isOver(action)) leaveIfShown(thread, action);
}

/** The view has what an item says; once all have it, it is done. False: there is no such item. */
export function discharge(thread: Thread, id: string, view: string): boolean {
  const item = thread.outbox.get(id);
  if (item === undefined) return false;
  item.views.delete(view);
  if (item.views.size > 0) return true;
  thread.outbox.delete(id);
  if (item.kind === "answer" && !thread.keepsAll) forgetRun(thread, item.run);
  return true;
}

/** The journal of the view's place points here, or does no more. False when the entry is about something else. */
export function applyPointer({ pointers }: Thread, { view, entry }: Entry<"delivered">): boolean {
  if (entry === WHERE_IT_IS.open) pointers.set(view, "open");
  else if (entry === WHERE_IT_IS.over) pointers.delete(view);
  else return false;
  return true;
}

/** What somebody wrote is owed to the thread's other places. */
export function quote(thread: Thread, entry: Entry<"message"> | Entry<"command">): void {
  if (thread.views.length === 1 || isAside(entry) || thread.quotes.has(entry.id)) return;
  const origin = viewFor(thread, entry.actor.account);
  const views = new Set(thread.views.filter((view) => view !== origin));
  const { id, seq, at, text, actor } = entry;
  const files = entry.kind === "message" ? entry.files : undefined;
  const names = files?.map(({ name }) => name) ?? [];
  const made = { id, seq, at, touched: seq, actor, text, files: names, isGone: false };
  thread.quotes.set(id, { ...made, views, shown: new Map() });
  thread.owedQuotes.add(id);
  forgetOldest(thread, thread.quotes, MAX_QUOTES, (each) => !thread.owedQuotes.has(each.id));
}

/** What was changed or taken back in its own place is so in the others. */
export function changeQuote(thread: Thread, entry: Entry<"edited"> | Entry<"removed">): void {
  const found = thread.quotes.get(entry.of);
  if (found === undefined || found.isGone) return;
  if (entry.kind === "removed") found.isGone = true;
  else if (entry.actor.account === found.actor.account) found.text = entry.text;
  else return;
  found.touched = entry.seq;
  thread.owedQuotes.add(found.id);
  settle(thread, found);
}

/** A view shows a quote as of some entry; false when the entry is about something else. */
export function showQuote(thread: Thread, { view, entry, ref }: Entry<"delivered">): boolean {
  const state = readQuoteState(entry);
  if (state === undefined) return false;
  const found = thread.quotes.get(state.id);
  found?.shown.set(view, { ref, seq: state.seq });
  if (found !== undefined) settle(thread, found);
  return true;
}

function settle({ owedQuotes }: Thread, found: Quote): void {
  if (![...found.views].some((view) => isOwed(found, view))) owedQuotes.delete(found.id);
}

/** What is gone before it was shown is not shown. */
function isOwed({ views, shown, touched, isGone }: Quote, view: string): boolean {
  const seen = shown.get(view);
  return views.has(view) && (seen === undefined ? !isGone : seen.seq < touched);
}

/** The oldest of what people said elsewhere that the view is owed, and its place in the thread's order. */
export function owedQuote(
  { quotes, owedQuotes }: Thread,
  view: string,
): { seq: number; quote: Quote } | undefined {
  for (const id of owedQuotes) {
    const found = quotes.get(id);
    if (found === undefined || !isOwed(found, view)) continue;
    return { seq: found.shown.has(view) ? found.touched : found.seq, quote: found };
  }
  return undefined;
}

/** This place is another thread's view: what was begun here before that was known belongs there. */
export function applyMoved(thread: Thread, entry: Entry<"moved">): void {
  thread.moved = entry;
  thread.pending.clear();
  thread.clicks.clear();
  for (const run of thread.going) stopRun(run);
  const { id, where } = entry;
  if (entry.over === true) thread.untold.set(id, { id, about: { kind: "moved", where } });
}

/** Who writes or presses where the thread is no longer shown is told once where it goes on; nothing is begun here. */
export function tellMoved(
  { moved, movedTold, untold }: Thread,
  id: string,
  account: string | undefined,
): void {
  if (moved?.over !== true || account === undefined || movedTold.has(account)) return;
  movedTold.add(account);
  untold.set(id, { id, about: { kind: "moved", where: moved.where } });
}
