import type { Thread } from "./state.ts";

/** What a fold no longer needs, so that it stays small however long its journal is. */

export function forget(thread: Thread, id: string): void {
  thread.clicks.delete(id);
  thread.untold.delete(id);
}

/** Actions and unknown outcomes of a thread that are over and still remembered, for who presses or speaks late. */
export const MAX_PAST = 20;
/** Calls that an answer can cite: more than a model's context holds. */
export const MAX_EVIDENCE = 1_000;

/** Questions whose end is remembered for those who press later. */
export const MAX_ANSWERED = 50;

/** Addresses that people wrote. */
export const MAX_WRITTEN = 200;

/** Different permissions and settings that would help a thread's calls. */
export const MAX_HELPS = 50;

/** Keeps at most so many of those that may go. */
export function forgetOldest<V>(
  { keepsAll }: Thread,
  from: Map<unknown, V>,
  most: number,
  mayGo: (value: V) => boolean,
): void {
  if (keepsAll || from.size <= most) return;
  const past = [...from].filter(([, value]) => mayGo(value));
  for (const [key] of past.slice(0, Math.max(0, past.length - most))) from.delete(key);
}
