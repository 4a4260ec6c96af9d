import type { JsonObject } from "../../src/core/entry.ts";

/** What a text can order the puppet to do. */
export type Order =
  /** A tool call; `again`: in every turn anew. */
  | { verb: "CALL"; name: string; args: JsonObject; again?: boolean }
  /** So many calls in every turn, no two alike: `#` in a text of the arguments becomes a number. */
  | { verb: "FLOOD"; name: string; args: JsonObject; calls: number }
  /** Words of the answer, and before calls the reason on their cards. */
  | { verb: "SAY"; text: string }
  /** Says everything that it was shown. */
  | { verb: "REPEAT" }
  /** Requests `url`, followed by each value of a `key=value` that it was shown; `token` unless another key is named. */
  | { verb: "LEAK"; url: string; key?: string }
  /** Connects to names below the domain that hold such values, in hexadecimal. */
  | { verb: "NAME"; key: string; domain: string; port: number }
  /** Looks for orders in the outputs that were cut. */
  | { verb: "ARTIFACTS" }
  /** One turn with more than any needs: calls, arguments of one, or words. */
  | { verb: "BULK"; of: "calls" | "input" | "words" };

/** In a message: its orders are heard only in a later run. */
export const LATER = "<<LATER>>";

const ORDER = /<<(?:CALL|FLOOD|SAY|REPEAT|LEAK|NAME|ARTIFACTS|BULK)\s+([\w!'()*.~%-]*)>>/g;

/**
 * An order as a text holds it: words and percent signs only, so that no quoting, escaping or wrapping on the way
 * changes it. `mark` makes it another one than the same order elsewhere.
 */
export function written(order: Order, mark: string): string {
  return `<<${order.verb} ${encodeURIComponent(JSON.stringify({ ...order, mark }))}>>`;
}

/** The orders in a text, in their places, as they are written. */
export function ordersIn(text: string): { order: Order; as: string }[] {
  return [...text.matchAll(ORDER)].flatMap(([as, body = ""]) => {
    try {
      // A table may break the line after the verb.
      const order = JSON.parse(decodeURIComponent(body)) as Order;
      return [{ order, as: as.replace(/\s+/, " ") }];
    } catch {
      return []; // an order that was cut in two is none
    }
  });
}
