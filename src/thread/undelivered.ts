import type { Action } from "./action.ts";
import { owedQuote } from "./fold-views.ts";
import { livingDueAt, livingIn } from "./fold-living.ts";
import { firstPast } from "./live-notices.ts";
import type { LiveNotice, OutboxItem, Quote, Thread } from "./state.ts";
import type { LivingMessage } from "./shown-living.ts";

/** What a view of a thread has yet to be shown. */
export type Undelivered =
  | { kind: "card"; action: Action }
  | { kind: "living"; living: LivingMessage }
  | { kind: "item"; item: OutboxItem }
  | { kind: "quote"; quote: Quote }
  | { kind: "past"; live: LiveNotice };

/** The oldest of it, so that a thread reads in order; what only changes comes last. */
export function nextUndelivered(
  thread: Thread,
  view: string,
  now: number,
): Undelivered | undefined {
  let oldest: { seq: number; undelivered: Undelivered } | undefined;
  const found = (seq: number, undelivered: Undelivered) => {
    if (oldest === undefined || seq < oldest.seq) oldest = { seq, undelivered };
  };
  // Cards come up in the order of their actions, also when a later one is decided first.
  for (const action of thread.live) {
    const seq = owedSeq(action.shown.get(view), action.proposedAt, action.touched);
    if (seq !== undefined) found(seq, { kind: "card", action });
  }
  for (const { living, seq, dueAt } of owedLiving(thread, view))
    if (dueAt <= now) found(seq, { kind: "living", living });
  // Items are kept in order.
  for (const item of thread.outbox.values()) {
    if (!item.views.has(view)) continue;
    found(item.seq, { kind: "item", item });
    break;
  }
  const said = owedQuote(thread, view);
  if (said !== undefined) found(said.seq, { kind: "quote", quote: said.quote });
  if (oldest !== undefined) return oldest.undelivered;
  const live = firstPast(thread, view);
  return live && { kind: "past", live };
}

/** What of the thread's living messages a view has not as it is, and from when on it may show it. */
export function owedLiving(
  thread: Thread,
  view: string,
): { living: LivingMessage; seq: number; dueAt: number }[] {
  return livingIn(thread).flatMap((living) => {
    const shown = living.shown.get(view);
    const seq = owedSeq(shown, living.openedAt, living.touched);
    return seq === undefined ? [] : [{ living, seq, dueAt: livingDueAt(living, shown) }];
  });
}

/** The place in the thread's order of a card that a view has not as it is; undefined: it has. */
function owedSeq(
  shown: { seq: number } | undefined,
  openedAt: number,
  touched: number,
): number | undefined {
  if (shown === undefined) return openedAt;
  return shown.seq < touched ? touched : undefined;
}
