import { closeSync, openSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Loaded before a program (`--import`), also in its threads: each of its flushes adds a byte to the file FLUSH_FILE, and takes
 * SLOW_FLUSH_MS longer, as on a slow disk. Those that SQLite does by itself, twice in a thousand pages of its log and at the
 * start, are neither counted nor slower.
 */
const slowMs = Number(process.env["SLOW_FLUSH_MS"] ?? 0);
const counted = openSync(process.env["FLUSH_FILE"] ?? "", "a");
process.on("exit", () => closeSync(counted));

const file = await open(import.meta.filename);
const proto = Object.getPrototypeOf(file) as typeof file;
await file.close();
const { datasync } = proto;
proto.datasync = async function flush() {
  writeSync(counted, ".");
  if (slowMs > 0) await sleep(slowMs);
  return datasync.call(this);
};
