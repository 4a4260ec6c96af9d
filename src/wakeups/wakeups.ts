import type { JournalKey } from "../core/journal-key.ts";
import type { Stoppable } from "../journal/journal.ts";

/** Why a journal is to be looked at: a person wrote or pressed something, its work goes on or its time has come, or the sweep found it. */
export type Lane = "people" | "runs" | "found";

/**
 * What lets one journal be worked on: its holder has it from when `work` is called, and gives it back while it only waits. There
 * are few of them, so a platform, a model or a tool must never be waited for with one in hand.
 */
export interface Slot {
  /**
   * Gives it back until `waiting` has ended, then waits for one in that lane. A wake meanwhile leads to nothing but this: who holds a journal
   * hears of new entries by itself, and releases it only when it has seen them all.
   */
  lendWhile(waiting: Promise<void>, lane: () => Lane): Promise<void>;
  /** Between two steps: whoever had it for long lets others go first. */
  pass(lane: () => Lane): Promise<void>;
  /** For good: the journal is not decided about any more. From now on a wake leads to another look after this one. */
  giveBack(): void;
}

/** Works on a journal until nothing is owed now. */
export type Work = (key: JournalKey, slot: Slot) => Promise<void>;

/** How much of this process is in use. */
export interface Load {
  /** Journals that may be worked on at the same time, and that are. */
  slots: number;
  busy: number;
  /** Journals whose lease this process has, also those that only wait. */
  held: number;
  /** Journals that wait for a slot. */
  waiting: Readonly<Record<Lane, number>>;
}

/**
 * Says which journal to look at, and when. A wake is a hint: it may come late, twice or never, so every engine also
 * sweeps the store's `due()`, which is the truth.
 */
export interface Wakeups {
  /** Has the journal looked at now, or at `at` (ms since 1970). Default lane: `runs`. */
  wake(key: JournalKey, at?: number, lane?: Lane): void;
  /**
   * Calls `work` for every journal woken or due, never twice at once for one journal here; a wake that comes while its
   * work has its slot leads to another look after it. What `work` throws is passed to `onError` and tried again by the sweep.
   */
  start(work: Work): Stoppable;
  load(): Load;
}
