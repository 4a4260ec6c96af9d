import { type JournalKey, tryJournalKey } from "../core/journal-key.ts";
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
