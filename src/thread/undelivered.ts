import type { Action } from "./action.ts";
import { owedQuote } from "./fold-views.ts";
import { firstPast } from "./live-notices.ts";
import type { LiveNotice, OutboxItem, Quote, ShownIncident, Thread } from "./state.ts";

/** What a view of a thread has yet to be shown. */
export type Undelivered =
  | { kind: "card"; action: Action }
  | { kind: "incident"; incident: ShownIncident }
  | { kind: "item"; item: OutboxItem }
  | { kind: "quote"; quote: Quote }
  | { kind: "past"; live: LiveNotice };

/** The oldest of it, so that a thread reads in order; what only changes comes last. */
export function nextUndelivered(thread: Thread, view: string): Undelivered | undefined {
  let oldest: { seq: number; undelivered: Undelivered } | undefined;
  const found = (seq: number, undelivered: Undelivered) => {
    if (oldest === undefined || seq < oldest.seq) oldest = { seq, undelivered };
  };
  // Cards come up in the order of their actions, also when a later one is decided first.
  for (const action of thread.live) {
    const seq = owedSeq(action.shown.get(view), action.proposedAt, action.touched);
    if (seq !== undefined) found(seq, { kind: "card", action });
  }
  for (const incident of thread.incidents.values()) {
    const seq = owedSeq(incident.shown.get(view), incident.openedAt, incident.state.seq);
    if (seq !== undefined) found(seq, { kind: "incident", incident });
  }
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

/** The place in the thread's order of a card that a view has not as it is; undefined: it has. */
function owedSeq(
  shown: { seq: number } | undefined,
  openedAt: number,
  touched: number,
): number | undefined {
  if (shown === undefined) return openedAt;
  return shown.seq < touched ? touched : undefined;
}
