import { createHash } from "node:crypto";
import type { AlertFields, Draft } from "../core/entry.ts";
import { isBotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { postDurably } from "../journal/durable.ts";
import type { Journal } from "../journal/journal.ts";
import { MAX_IN_ENTRY } from "./alert.ts";

/** What a request says of alerts that get their threads alike. */
export interface Piece {
  readonly key: JournalKey;
  /** The same for the same words of the same request, however often it is sent. */
  readonly request: string;
  /** It counts once in its journal, however much later it is sent again: it stands in an entry of its own, which has its name. */
  readonly once: boolean;
  readonly alerts: readonly AlertFields[];
  /** What the entry says besides. */
  readonly terms: Omit<Draft<"alert">, "id" | "kind" | "alerts" | "requests">;
}

interface Waiting {
  readonly piece: Piece;
  readonly terms: string;
  done(kept: Kept): void;
  failed(error: unknown): void;
}

/** `before`: the very same was kept earlier. */
type Kept = "now" | "before";

/**
 * Keeps pieces in their journals, those that wait for the same journal together: in a storm an entry for each would hold up the next.
 * A piece that cannot be kept fails alone.
 * @throws what `postDurably` throws
 */
export function createKeeper({
  journal,
  wake,
}: {
  journal: Pick<Journal, "post" | "flush">;
  wake(key: JournalKey): void;
}): (piece: Piece) => Promise<Kept> {
  const queues = new Map<JournalKey, Waiting[]>();

  async function post(key: JournalKey, some: readonly Waiting[]): Promise<void> {
    try {
      const { duplicate } = await postDurably(
        journal,
        key,
        draftOf(some.map(({ piece }) => piece)),
      );
      wake(key);
      for (const { done } of some) done(duplicate ? "before" : "now");
    } catch (error) {
      const isForAll = some.length === 1 || isBotError(error, "STORE_UNAVAILABLE", "STORE_FULL");
      // One of them is refused for good: the others must not share its answer.
      if (!isForAll) for (const each of some) await post(key, [each]);
      else for (const { failed } of some) failed(error);
    }
  }

  async function work(key: JournalKey, queue: Waiting[]): Promise<void> {
    for (let some = together(queue); some.length > 0; some = together(queue)) {
      const isAlone = some.every(({ piece }) => piece.once);
      // Posted in their order, and not one after the other's answer.
      await Promise.all(
        (isAlone ? some.map((each) => [each]) : [some]).map((each) => post(key, each)),
      );
    }
    queues.delete(key);
  }

  return async (piece) => {
    const { promise, resolve: done, reject: failed } = Promise.withResolvers<Kept>();
    const waiting = { piece, terms: JSON.stringify(piece.terms), done, failed };
    const queue = queues.get(piece.key);
    if (queue === undefined) {
      const begun = [waiting];
      queues.set(piece.key, begun);
      void work(piece.key, begun);
    } else queue.push(waiting);
    return promise;
  };
}

/** Takes from a queue its first and what can be kept with it. */
function together(queue: Waiting[]): Waiting[] {
  const [first] = queue;
  if (first === undefined) return [];
  let count = 0;
  const some = queue.filter(({ terms, piece }, index) => {
    const isOne =
      terms === first.terms &&
      piece.once === first.piece.once &&
      (index === 0 || count + piece.alerts.length <= MAX_IN_ENTRY);
    if (isOne) count += piece.alerts.length;
    return isOne;
  });
  const left = queue.filter((each) => !some.includes(each));
  queue.splice(0, queue.length, ...left);
  return some;
}

function draftOf(pieces: readonly Piece[]): Draft<"alert"> {
  const [first] = pieces;
  if (first === undefined) throw new RangeError("nothing to keep");
  const requests = pieces.map(({ request, alerts }) => ({ request, alerts: alerts.length }));
  const hash = createHash("sha256").update(requests.map((each) => each.request).join());
  const name = first.once ? first.request : hash.digest("base64url").slice(0, 22);
  return {
    ...first.terms,
    id: `alert:${first.terms.source}:${name}`,
    kind: "alert",
    alerts: pieces.flatMap(({ alerts }) => alerts),
    requests,
  };
}
