import type { JournalKey } from "../../core/journal-key.ts";
import type { Stoppable } from "../journal.ts";

/** How often other processes' writes are looked for while something is watched; the port promises a second. */
const WATCH_MS = 200;

/** Tells watchers of writes: this process's at once, other processes' by asking for the last entry's number. */
export function createWatchers(lastOf: (keys: readonly JournalKey[]) => Promise<number[]>) {
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
      for (const [i, last] of (await lastOf(keys)).entries()) {
        const key = keys[i];
        // Also when it is less: a store that was set back.
        if (key !== undefined && last !== watched.get(key)?.known) tell(key, last);
      }
    } catch {
      // A hint only: looked at again in WATCH_MS, and what is wrong with the store the verbs say.
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
