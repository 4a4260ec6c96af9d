import { REMOVED } from "../core/removed.ts";
import { oneLine, shortened } from "../core/text.ts";
import type { Incident, Pin, Said } from "./incident.ts";

/** Of one message. */
const MAX_QUOTE = 600;

/** Stands before what its author made of a message after it was pinned: nobody pinned or approved that. */
export const EDITED = "(edited)";

/** A message's encoded words as the record quotes them; undefined: it was taken away. */
export function quoteText(text: string | undefined): string {
  return text === undefined
    ? REMOVED
    : shortened(oneLine(text.replaceAll(HIDDEN, "($1)")), MAX_QUOTE);
}

/** A secret that was taken out: no call may have the mark among its arguments. */
const HIDDEN = /\[(secret:[\w.-]+)\]/g;

/** How a message of the thread that somebody pinned stands in the record now, and who said so; undefined: it is not in it. */
export function pinnedIn(
  { history, pins }: Pick<Incident, "history" | "pins">,
  message: string,
): { pin: Pin; said: Said } | undefined {
  const pin = pins.find((each) => each.message === message);
  const said = history.findLast(({ change }) => change.pin?.message === message);
  return pin && said && { pin, said };
}
