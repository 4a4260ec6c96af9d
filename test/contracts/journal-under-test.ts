import type { Journal } from "../../src/journal/journal.ts";

/** A store under test: two handles on the same data, as two processes have, and a clock that the test moves. */
export interface JournalUnderTest {
  first: Journal;
  second: Journal;
  clock: { now: number };
  close(): Promise<void>;
}
