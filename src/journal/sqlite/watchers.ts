import type { StatementSync } from "node:sqlite";
import type { JournalKey } from "../../core/journal-key.ts";

/** How often another process's writes are looked for while something is watched; the port promises a second. */
const WATCH_MS = 200;

interface Looks {
  /** SQLite's own counter of changes by other connections. */
  version: StatementSync;
  row: StatementSync;
}

/** Tells watchers of writes: this process's at once, other processes' by looking at SQLite's change counter. */
export function createWatchers(sql: Looks) {
  const watched = new Map<JournalKey, Set<(last: number) => void>>();
  let timer: NodeJS.Timeout | undefined;
  let version: unknown;

  const notify = (key: JournalKey, last: number) => {
    for (const onChange of watched.get(key) ?? []) onChange(last);
  };
  const look = () => {
    try {
      const current = sql.version.get()?.["data_version"];
      if (current === version) return;
      for (const key of watched.keys()) notify(key, Number(sql.row.get(key)?.["last"] ?? 0));
      version = current;
    } catch {
      // A hint only: looked at again in WATCH_MS, and what is wrong with the store the verbs say.
    }
  };
  const close = () => {
    clearInterval(timer);
    timer = undefined;
    watched.clear();
  };
  const add = (key: JournalKey, onChange: (last: number) => void) => {
    const callbacks = watched.get(key) ?? new Set();
    watched.set(key, callbacks.add(onChange));
    timer ??= setInterval(look, WATCH_MS).unref();
    return {
      stop() {
        callbacks.delete(onChange);
        if (callbacks.size === 0 && watched.get(key) === callbacks) watched.delete(key);
        if (watched.size === 0) close();
      },
    };
  };
  return { notify, add, close };
}
