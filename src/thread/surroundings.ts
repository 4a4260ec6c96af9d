import type { Machines } from "./machines.ts";
import type { RunParts } from "./run.ts";
import type { Thread } from "./state.ts";

/** What entries are made from besides what was learnt: the thread, the clock, the configuration, this process. */
export interface Surroundings extends Pick<Machines, "here" | "isBound" | "heard"> {
  readonly thread: Thread;
  /** The store's clock, ms since 1970. */
  readonly now: number;
  readonly run: RunParts;
  /** Who is behind an account. */
  personOf(account: string): string;
  /** Redacts and cleans text that came from outside. */
  encode(text: string): string;
}
