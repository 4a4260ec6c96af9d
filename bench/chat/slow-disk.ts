import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Loaded before a program (`--import`): each of its flushes takes 5 ms longer, as on a slow disk. Those that SQLite does by
 * itself, twice in a thousand pages of its log and at the start, do not.
 */
const SLOW_MS = 5;

const file = await open(import.meta.filename);
const proto = Object.getPrototypeOf(file) as typeof file;
await file.close();
const { datasync } = proto;
proto.datasync = async function slowly() {
  await sleep(SLOW_MS);
  return datasync.call(this);
};
