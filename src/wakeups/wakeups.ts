import type { JournalKey } from "../core/journal-key.ts";
import type { Stoppable } from "../journal/journal.ts";

/**
 * Says which journal to look at, and when. A wake is a hint: it may come late, twice or never, so every engine also
 * sweeps the store's `due()`, which is the truth.
 */
export interface Wakeups {
  /** Has the journal looked at now, or at `at` (ms since 1970). */
  wake(key: JournalKey, at?: number): void;
  /**
   * Calls `work` for every journal woken or due, never twice at once for one journal here; a wake that comes while its
   * work runs leads to another look after it. What `work` throws is passed to `onError` and tried again by the sweep.
   */
  start(work: (key: JournalKey) => Promise<void>): Stoppable;
}
