import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { BotError, messageOf } from "../../core/errors.ts";
import { createBatches } from "../batches.ts";
import type { Stalls } from "./stalls.ts";

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export type Sync = (log: FileHandle) => Promise<void>;

/**
 * Flushes the write-ahead log, where each commit of every process is before it is answered. SQLite flushes log and file by itself
 * before the log begins again, so that what is in no log any more is in the file. `version`: differs once somebody has written.
 * A disk that stalls is waited for, however long.
 */
export function createFlush(
  path: string,
  version: () => unknown,
  stalls: Stalls,
  sync: Sync = (log) => log.datasync(),
) {
  let log: FileHandle | undefined;
  let flushed: unknown;
  let failure: BotError | undefined;

  async function flush(): Promise<void> {
    const now = version();
    if (failure !== undefined) throw failure;
    if (now === flushed) return;
    log ??= await open(`${path}-wal`, "r+");
    stalls.asked();
    try {
      // Once: where the log is new, its name must last as well, which POSIX promises only once its folder is flushed.
      if (flushed === undefined) await syncFolder(dirname(path));
      await sync(log);
    } catch (error) {
      // The system may have forgotten what it could not write, and would say next time that all is well.
      const text = `The disk could not keep ${path} (${messageOf(error)}); nothing is acknowledged and no change begins. Look at the disk, then start the program again.`;
      failure = new BotError("STORE_UNAVAILABLE", text, { cause: error });
      throw failure;
    } finally {
      stalls.answered(false);
    }
    flushed = now;
  }

  return {
    /** Everything that is committed when it is called. @throws BotError STORE_UNAVAILABLE, from then on each time */
    flush: createBatches<void, true>(async (waiting) => {
      await flush();
      return waiting.map(() => true);
    }),
    async close(): Promise<void> {
      await log?.close();
    },
  };
}
