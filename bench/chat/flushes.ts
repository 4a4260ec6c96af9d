import { closeSync, openSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Loaded before a program (`--import`), also in its threads, which have no environment: each of its flushes adds a byte to the `file`
 * that the address names, and takes `slowMs` longer, as on a slow disk. Those that SQLite does by itself, twice in a thousand pages of its log and at the
 * start, are neither counted nor slower.
 */
const { searchParams } = new URL(import.meta.url);
const slowMs = Number(searchParams.get("slowMs"));
const counted = openSync(searchParams.get("file") ?? "", "a");
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
