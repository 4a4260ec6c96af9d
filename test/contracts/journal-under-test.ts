import type { Journal } from "../../src/journal/journal.ts";

/** A store under test: two handles on the same data, as two processes have, and a clock that the test moves. */
export interface JournalUnderTest {
  first: Journal;
  second: Journal;
  clock: { now: number };
  /** What the machine's death leaves: what was flushed. A store that can't show it has none of this. */
  afterPowerLoss?(): Promise<Journal>;
  close(): Promise<void>;
}
