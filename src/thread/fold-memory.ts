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

/** Statistics whose numbers an answer is held against. */
export const MAX_FIGURES = 50;

/** Questions whose end is remembered for those who press later. */
export const MAX_ANSWERED = 50;

/** Calls of checks that a first look need not make again. */
export const MAX_LOOKED = 100;

/** Calls that found something broken, which are made again after an action. */
export const MAX_BROKEN = 8;

/** Addresses that people wrote. */
export const MAX_WRITTEN = 200;

/** Different permissions and settings that would help a thread's calls. */
export const MAX_HELPS = 50;

/** Keeps at most so many of those that may go: all of them, unless `mayGo` says which. Without it the cost is that of what goes. */
export function forgetOldest<V>(
  { keepsAll }: Thread,
  from: Map<unknown, V>,
  most: number,
  mayGo?: (value: V) => boolean,
): void {
  if (keepsAll || from.size <= most) return;
  const past = mayGo === undefined ? from.size : [...from.values()].filter(mayGo).length;
  let left = past - most;
  for (const [key, value] of from) {
    if (left <= 0) return;
    if (mayGo?.(value) === false) continue;
    from.delete(key);
    left -= 1;
  }
}
