import { setImmediate as turnOfLoop } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { ActionCard } from "../adapters/shown.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { JournalSummary } from "../journal/journal.ts";
import { isOpen } from "../thread/action.ts";
import { cardOf, type Encode } from "./cards.ts";
import type { KnownThread } from "./known-threads.ts";

/** What is kept in memory: the threads that wait, with their cards, a KB or two each. */
const KEPT_THREADS = 16_384;
const KEPT_CHARACTERS = 16_000_000;

interface Kept extends Pick<JournalSummary, "last" | "head"> {
  cards: readonly ActionCard[];
}

/** A thread's open cards. They are made again only when it has changed, each in a turn of the event loop: many may wait for long. */
export function createOpenCards(
  threads: { read(key: JournalKey): Promise<KnownThread> },
  encode: Encode,
) {
  const known = new LRUCache<JournalKey, Kept>({
    max: KEPT_THREADS,
    maxSize: KEPT_CHARACTERS,
    sizeCalculation: ({ cards }) => JSON.stringify(cards).length,
  });
  return async ({ key, last, head }: JournalSummary): Promise<readonly ActionCard[]> => {
    const kept = known.get(key);
    if (kept?.last === last && kept.head === head) return kept.cards;
    await turnOfLoop();
    const { thread } = await threads.read(key);
    const cards = [...thread.live].filter(isOpen).map((action) => cardOf(key, action, encode));
    known.set(key, { last: thread.last, head: thread.head, cards });
    return cards;
  };
}
