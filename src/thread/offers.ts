import type { Entry } from "../core/entry.ts";
import { isOpen } from "./action.ts";
import { readPastState, runOfCall } from "./entry-ids.ts";
import { isUnsettled, type Offer, type Thread } from "./state.ts";

/** Notices that say or offer something only for so long. */

/** Keeps a notice that will have to change or go. */
export function keepOffer({ offers, views }: Thread, notice: Entry<"notice">): void {
  const { asks, settles, holds, approves, confirms, warns } = notice;
  const isOffer = [asks, settles, holds, approves, confirms, warns].some((of) => of !== undefined);
  if (isOffer) offers.set(notice.id, { notice, shown: new Map(), open: new Set(views) });
}

/** True once what the notice is about waits no longer. */
export function isPast(
  { actions, runs, unknown, answered }: Thread,
  { notice }: Pick<Offer, "notice">,
): boolean {
  const { asks, settles, holds = [], approves = [], confirms, warns } = notice;
  if (asks !== undefined) return answered.has(asks.call) || !isOpenCall(runs, asks.call);
  if (settles !== undefined) return !isUnsettled({ unknown }, settles);
  const waits = [...holds, ...approves, confirms ?? [], warns ?? []].flat();
  return (
    waits.length > 0 &&
    !waits.some((id) => {
      const action = actions.get(id);
      return action === undefined ? isOpenCall(runs, id) : isOpen(action);
    })
  );
}

function isOpenCall(runs: Thread["runs"], id: string): boolean {
  return runs.get(runOfCall(id))?.open.has(id) === true;
}

/** The first offer that this view shows and that is past. */
export function pastOffer(thread: Thread, view: string): Offer | undefined {
  for (const offer of thread.offers.values()) {
    if (offer.shown.has(view) && offer.open.has(view) && isPast(thread, offer)) return offer;
  }
  return undefined;
}

/** A view shows the notice, or shows it as it stays; false when the entry is about something else. */
export function showOffer(thread: Thread, { view, entry, ref }: Entry<"delivered">): boolean {
  const past = readPastState(entry);
  const offer = thread.offers.get(past ?? entry);
  if (offer === undefined) return false;
  if (past === undefined) offer.shown.set(view, ref);
  if (past !== undefined || ref === "") offer.open.delete(view);
  if (offer.open.size === 0) thread.offers.delete(offer.notice.id);
  return past !== undefined;
}
