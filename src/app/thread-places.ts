import type { Adapter } from "../adapters/adapter.ts";
import { type JournalKey, transportOf, tryJournalKey } from "../core/journal-key.ts";
import { inPages } from "../core/pages.ts";
import type { Journal } from "../journal/journal.ts";
import { fold } from "../thread/fold.ts";
import { Thread } from "../thread/state.ts";
import { viewFor } from "../thread/views.ts";

/** A thread as its journal has it now. */
export async function threadAt(journal: Pick<Journal, "read">, key: JournalKey): Promise<Thread> {
  const thread = new Thread();
  for await (const page of inPages(await journal.read(key))) fold(thread, page);
  return thread;
}

/** Of a thread's places the one that the account writes in, by the key that its platform knows it by. */
export function homeOf(thread: Thread, key: JournalKey, account: string): JournalKey {
  return tryJournalKey(viewFor(thread, account)) ?? key;
}

/**
 * Who may read a thread with all of its places, as of a place that asks (`Adapter.audience`): of several one may be private, and
 * then the thread is by itself. A platform that is not there cannot say.
 */
export async function readersOf(
  adapters: ReadonlyMap<string, Pick<Adapter, "audience">>,
  id: string,
  views: readonly string[],
): Promise<string | undefined> {
  for (const place of [id, ...views]) {
    const key = tryJournalKey(place);
    const adapter = key && adapters.get(transportOf(key));
    const readers = key && adapter ? await adapter.audience(key) : id;
    if (readers !== undefined) return views.length === 0 ? readers : id;
  }
  return undefined;
}
