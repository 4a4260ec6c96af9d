import { setImmediate as turnOfLoop } from "node:timers/promises";
import type { ActionCard } from "../adapters/shown.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { JournalSummary } from "../journal/journal.ts";
import { isOpen } from "../thread/action.ts";
import type { Thread } from "../thread/state.ts";
import { cardOf, encodedCard, type Encode } from "./cards.ts";
import type { KnownThread } from "./known-threads.ts";

/** To change what a card has, raise it: what was left in another form is not read. */
const FORM = 2;
/** Of more characters none are left: such a thread is read. */
const MAX_LEFT = 8_192;

function openCardsOf(key: JournalKey, { live }: Thread, encode: Encode): ActionCard[] {
  return [...live].filter(isOpen).map((action) => cardOf(key, action, encode));
}

/** What a thread leaves for lists with its release: its open cards, also where it has none. */
export function listedCards(key: JournalKey, thread: Thread, encode: Encode): string | undefined {
  const text = JSON.stringify([FORM, ...openCardsOf(key, thread, encode)]);
  return text.length > MAX_LEFT ? undefined : text;
}

/**
 * A thread's open cards: those that it left. Where anything was written since, it is read, each in a turn of the event loop, as
 * many may wait for long.
 */
export function createOpenCards(
  threads: { read(key: JournalKey): Promise<KnownThread> },
  encode: Encode,
) {
  return async ({ key, listed = "[]" }: JournalSummary): Promise<readonly ActionCard[]> => {
    const [form, ...left]: [number?, ...ActionCard[]] = JSON.parse(listed);
    // A secret may have been learned since.
    if (form === FORM) return left.map((card) => encodedCard(card, encode));
    await turnOfLoop();
    const { thread } = await threads.read(key);
    return openCardsOf(key, thread, encode);
  };
}
