import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { Sync } from "../../src/journal/sqlite/flush.ts";

/** Beside an embedded store: how much of its log was on the disk after each flush, and whether the power is off. */
const flushedOf = (store: string) => `${store}.flushed`;
const offOf = (store: string) => `${store}.off`;
const logOf = (store: string) => `${store}-wal`;

/** How every process of a machine flushes: it notes what the disk has from then on. Once the power is off no flush ends. */
export function flushTo(store: string): Sync {
  return async (log) => {
    const { size } = await log.stat();
    appendFileSync(flushedOf(store), `${size}\n`);
    // Looked at last: what ended before the power went is on the disk.
    if (existsSync(offOf(store))) await Promise.withResolvers().promise;
  };
}

/** From now on nothing reaches the disk, whoever runs on for another moment. */
export function cutPower(store: string): void {
  writeFileSync(offOf(store), "");
}

/**
 * Begins to note what is flushed of an open store: all that is there now, and what `flushTo` notes. Until it is closed SQLite
 * moves nothing newer from the log into the file, so that the log's length says all.
 */
export function watchLog(store: string): { close(): void } {
  const pin = new DatabaseSync(store);
  pin.exec("BEGIN; SELECT count(*) FROM journal");
  appendFileSync(flushedOf(store), `${statSync(logOf(store)).size}\n`);
  return pin;
}

/** Writes what the machine's death leaves of a watched store to `to`, once nobody else has it open. */
export function keepFlushed(store: string, to: string): void {
  const sizes = readFileSync(flushedOf(store), "utf8").split("\n").map(Number);
  copyFileSync(store, to);
  writeFileSync(logOf(to), readFileSync(logOf(store)).subarray(0, Math.max(...sizes)));
}

/** Puts what was kept in the store's place, when nobody has either open. The power is on again. */
export function putBack(kept: string, store: string): void {
  for (const beside of [flushedOf(store), offOf(store), `${store}-shm`])
    rmSync(beside, { force: true });
  copyFileSync(kept, store);
  copyFileSync(logOf(kept), logOf(store));
}
