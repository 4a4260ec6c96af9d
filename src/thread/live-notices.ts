import type { Draft, Entry } from "../core/entry.ts";
import { isOpen } from "./action.ts";
import { readPastState, runOfCall } from "./entry-ids.ts";
import { isOffered } from "./incident-offer.ts";
import { viewFor } from "./views.ts";
import { isUnsettled, type LiveNotice, type Thread } from "./state.ts";

type Notice = Entry<"notice">;
type Field = Exclude<keyof Draft<"notice">, "id" | "kind" | "text">;

/** By field of a notice: whether what it names there still waits. Undefined: it names nothing that could. */
const WAITS: Readonly<
  Record<Field, ((notice: Notice, thread: Thread) => boolean | undefined) | undefined>
> = {
  asks: ({ asks }, thread) =>
    asks && !thread.answered.has(asks.call) && isOpenCall(thread, asks.call),
  settles: ({ settles }, thread) =>
    settles === undefined ? undefined : isUnsettled(thread, settles),
  holds: ({ holds }, thread) => holds?.some((id) => waits(id, thread)),
  approves: ({ approves }, thread) => approves?.some((id) => waits(id, thread)),
  confirms: ({ confirms: id }, thread) => (id === undefined ? undefined : waits(id, thread)),
  warns: ({ warns: id }, thread) => (id === undefined ? undefined : waits(id, thread)),
  mentions: undefined,
  to: undefined,
  answers: undefined,
  parks: undefined,
  redraws: undefined,
  waitsFor: undefined,
  verifies: undefined,
  instead: undefined,
  offers: ({ offers }, thread) => (offers === undefined ? undefined : isOffered(thread)),
  declines: undefined,
};

function waitingOf(notice: Notice, thread: Thread): boolean[] {
  return Object.values(WAITS).flatMap((stillWaits) => stillWaits?.(notice, thread) ?? []);
}

/** Keeps a notice that will have to change or go. */
export function keepLive(thread: Thread, notice: Notice): void {
  if (waitingOf(notice, thread).length === 0) return;
  const open = new Set(viewsOf(thread, notice));
  thread.liveNotices.set(notice.id, { notice, shown: new Map(), open });
}

/** Where it is shown: one person sees it on their own platform. */
export function viewsOf(thread: Thread, { to }: Notice): readonly string[] {
  return to === undefined ? thread.views : [viewFor(thread, to)];
}

/** The view shows nothing any more. */
export function dropViews({ liveNotices }: Thread, view: string): void {
  for (const { notice, open } of liveNotices.values())
    if (open.delete(view) && open.size === 0) liveNotices.delete(notice.id);
}

/** True once what the notice is about waits no longer. */
export function isPast(thread: Thread, { notice }: Pick<LiveNotice, "notice">): boolean {
  const waiting = waitingOf(notice, thread);
  return waiting.length > 0 && !waiting.includes(true);
}

/** An action, or a question by its call, is open. */
function waits(id: string, thread: Thread): boolean {
  const action = thread.actions.get(id);
  return action === undefined ? isOpenCall(thread, id) : isOpen(action);
}

function isOpenCall({ runs }: Thread, id: string): boolean {
  return runs.get(runOfCall(id))?.open.has(id) === true;
}

/** The first that this view shows and that is past. */
export function firstPast(thread: Thread, view: string): LiveNotice | undefined {
  for (const live of thread.liveNotices.values()) {
    if (live.shown.has(view) && live.open.has(view) && isPast(thread, live)) return live;
  }
  return undefined;
}

/** A view shows the notice, or shows it as it stays; false when the entry is about something else. */
export function showLive(
  { liveNotices }: Thread,
  { view, entry, ref }: Entry<"delivered">,
): boolean {
  const past = readPastState(entry);
  const live = liveNotices.get(past ?? entry);
  if (live === undefined) return false;
  if (past === undefined) live.shown.set(view, ref);
  if (past !== undefined || ref === "") live.open.delete(view);
  if (live.open.size === 0) liveNotices.delete(live.notice.id);
  return past !== undefined;
}
