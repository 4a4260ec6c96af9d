import { progressId } from "../../thread/entry-ids.ts";
import type { Delivery, MessageRef, View } from "../../adapters/adapter.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import { cardOf, type Encode } from "../../queries/cards.ts";
import { outgoingOf, pastNotice } from "../../queries/outgoing.ts";
import type { Undelivered } from "../../thread/decide.ts";
import { isPast } from "../../thread/live-notices.ts";
import type { Thread } from "../../thread/state.ts";

/** What is known of earlier attempts to show an entry in a view. */
export interface Attempts {
  /** Nobody has tried yet. */
  isUntried(entry: string): boolean;
  /** An earlier attempt may have come through. From then on one has been made. */
  isRetry(entry: string): boolean;
}

/** Shows one undelivered thing in a view. Returns the message; "" where it was no longer worth showing. Throws what the platform throws: it is still owed then. */
export async function deliver(
  view: View,
  viewName: string,
  { key, thread, isUntried, isRetry }: { key: JournalKey; thread: Thread } & Attempts,
  undelivered: Undelivered,
  encode: Encode,
): Promise<MessageRef> {
  if (undelivered.kind === "card") {
    const { action } = undelivered;
    const card = cardOf(key, action, encode);
    const shown = action.shown.get(viewName);
    if (shown === undefined) {
      const delivery = { id: action.action, isRetry: isRetry(action.proposal.id) };
      return view.postCard(card, delivery);
    }
    await view.updateCard(shown.ref, card);
    return shown.ref;
  }
  if (undelivered.kind === "past") {
    const { live } = undelivered;
    const ref = live.shown.get(viewName) ?? "";
    await view.updateNotice(ref, pastNotice(thread, live.notice, encode));
    return ref;
  }
  const { item } = undelivered;
  const message = outgoingOf({ key, thread }, item, encode);
  if (item.kind === "notice") {
    const live = thread.liveNotices.get(item.id);
    const isPointless =
      live !== undefined &&
      isPast(thread, live) &&
      pastNotice(thread, item.notice, encode) === undefined;
    if (isPointless) return "";
    if (item.notice.to !== undefined && message.kind === "notice")
      return view.postPrivately(item.notice.to, message.text, message);
    return view.post(message, { id: item.id, isRetry: isRetry(item.id) });
  }
  const { run } = item;
  const begun = run.progressMessages.get(viewName);
  const isLast = begun?.seq === thread.newest;
  // The answer belongs below what was said since: the run's message goes, and a new one comes.
  if (begun !== undefined && !isLast) await view.delete(begun.ref);
  const delivery: Delivery = { id: item.id, isRetry: isRetry(item.id) };
  const isBegunUnseen = begun === undefined && !isUntried(run.started.id);
  if (isBegunUnseen && view.openProgress !== undefined) {
    delivery.orphan = progressId(run.started.run);
  }
  return view.post(message, delivery, isLast ? begun?.ref : undefined);
}
