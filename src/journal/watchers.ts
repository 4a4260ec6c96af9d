import type { JournalKey } from "../core/journal-key.ts";
import type { Stoppable } from "./journal.ts";

/** How often other processes' writes are looked for while something is watched; the port promises a second. */
const WATCH_MS = 200;

/** The number of each journal's last entry, or undefined when nothing was written since the last time. */
export type LastEntries = (
  keys: readonly JournalKey[],
) => Promise<number[] | undefined> | number[] | undefined;

/** Tells watchers of writes: this process's at once, other processes' by looking. */
export function createWatchers(lastOf: LastEntries) {
  const watched = new Map<JournalKey, { known: number; callbacks: Set<(last: number) => void> }>();
  let timer: NodeJS.Timeout | undefined;
  let looking = false;

  function tell(key: JournalKey, last: number): void {
    const watch = watched.get(key);
    if (watch === undefined) return;
    watch.known = last;
    for (const onChange of watch.callbacks) onChange(last);
  }

  /** This process has written. */
  function notify(key: JournalKey, last: number): void {
    if (last > (watched.get(key)?.known ?? last)) tell(key, last);
  }

  async function look(): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      const keys = [...watched.keys()];
      const found = (await lastOf(keys)) ?? [];
      for (const [i, last] of found.entries()) {
        const key = keys[i];
        // Also when it is less: the store was set back.
        if (key !== undefined && last !== watched.get(key)?.known) tell(key, last);
      }
    } catch {
      // Only a hint: the next look is in WATCH_MS, and the verbs say what is wrong with the store.
    } finally {
      looking = false;
    }
  }

  function close(): void {
    clearInterval(timer);
    timer = undefined;
    watched.clear();
  }

  function add(key: JournalKey, onChange: (last: number) => void): Stoppable {
    const watch = watched.get(key) ?? { known: 0, callbacks: new Set() };
    watched.set(key, watch);
    watch.callbacks.add(onChange);
    timer ??= setInterval(() => void look(), WATCH_MS).unref();
    return {
      stop() {
        watch.callbacks.delete(onChange);
        if (watch.callbacks.size === 0 && watched.get(key) === watch) watched.delete(key);
        if (watched.size === 0) close();
      },
    };
  }

  return { notify, add, close };
}
