import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { cutPower, keepFlushed, putBack, watchLog } from "../chaos/power.ts";
import { plant } from "./planted.ts";

/** For a program whose machine may die: it notes what of its embedded store it has flushed. */
export const mortalEnv = {
  NODE_OPTIONS: `--import=${import.meta.filename}`,
  MORTAL_STORE: "data/watchkeeper.db",
};

/** The machine that the program runs on. */
export interface Machine {
  /** The store is there from now on. */
  started(): void;
  /** From now on nothing reaches the disk. */
  die(): void;
  /** Once its processes are dead: the store is what was flushed of it. */
  restart(): void;
  close(): void;
}

export function createMachine(store: string): Machine {
  const kept = `${store}.kept`;
  let watch: { close(): void } | undefined;
  return {
    started() {
      watch ??= watchLog(store);
    },
    die: () => cutPower(store),
    restart() {
      keepFlushed(store, kept);
      watch?.close();
      putBack(kept, store);
      watch = watchLog(store);
    },
    close: () => watch?.close(),
  };
}

const mortal = process.env["MORTAL_STORE"];
if (mortal !== undefined) {
  const power = pathToFileURL(join(import.meta.dirname, "../chaos/power.ts")).href;
  const text = "sync: Sync = (log) => log.datasync()";
  const becomes = `sync: Sync = async (log) => (await import(${JSON.stringify(power)})).flushTo(${JSON.stringify(mortal)})(log)`;
  plant({ file: "journal/sqlite/flush.ts", text, becomes });
}
