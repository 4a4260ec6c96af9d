import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { Journal, JournalReader } from "../journal/journal.ts";
import { showAddress } from "../journal/redis/address.ts";
import { openSqliteJournal, readSqliteJournal } from "../journal/sqlite/journal.ts";

/**
 * The store that is configured. `warn` is told, in a sentence each, what can be lived with but should not be.
 * @throws what `openSqliteJournal` and `openRedisJournal` throw
 */
export async function openStore(
  { dataDir, redis }: Config,
  warn?: (text: string) => void,
): Promise<Journal> {
  const told = warn && { warn };
  if (redis === undefined) return openSqliteJournal({ path: fileIn(dataDir), ...told });
  const { openRedisJournal } = await import("../journal/redis/journal.ts");
  return openRedisJournal({ ...redis, ...told });
}

/** The store for a command that only looks: what an older version wrote stays as it is. Else as `openStore`. */
export async function readStore(
  { dataDir, redis }: Config,
  warn?: (text: string) => void,
): Promise<JournalReader> {
  const told = warn && { warn };
  if (redis === undefined) return readSqliteJournal({ path: fileIn(dataDir), ...told });
  const { readRedisJournal } = await import("../journal/redis/journal.ts");
  return readRedisJournal({ ...redis, ...told });
}

function fileIn(dataDir: string): string {
  return join(dataDir, "watchkeeper.db");
}

/** Where `openStore` keeps things, for people. */
export function storeName({ dataDir, redis }: Config): string {
  return redis === undefined ? `SQLite in ${dataDir}` : showAddress(redis.address);
}
