import { closeSync, existsSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as turnOfLoop, setTimeout as sleep } from "node:timers/promises";
import { BotError, type ErrorCode, messageOf } from "../../core/errors.ts";
import { makeFolder } from "../../core/folder.ts";
import { type KindOf, refuseNetwork } from "./file-system.ts";
import { newerStore, upgradeAheadText, upgradedText } from "../versions.ts";

/** "WKJR": marks a database file as a Watchkeeper journal (SQLite's application_id). */
const APPLICATION_ID = 0x574b4a52;
/** How commits are flushed (sqlite.org/pragma.html#pragma_synchronous). In WAL mode only the first outlives the machine by itself. */
const SYNCHRONOUS = { full: "PRAGMA synchronous = FULL", normal: "PRAGMA synchronous = NORMAL" };
/** How long a locked store is retried before STORE_UNAVAILABLE, as the port promises. */
export const BUSY_MS = 2_000;
/** Of a journal. */
export const TRANSPORT = "substr(key, 1, instr(key, ':') - 1)";
/** Of a journal: where it stands in the order of changes. Other versions of the program may have written without `changed`. */
export const PLACE = "max(last_at, ifnull(changed, 0))";
/** What each version added to the one before. While a token is stored, a journal's `due_at` is the lease's end. */
const STEPS = [
  `
  CREATE TABLE journal (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, last INTEGER NOT NULL,
    last_at INTEGER NOT NULL, token TEXT, attempts INTEGER NOT NULL DEFAULT 0, due_at INTEGER
  ) STRICT;
  CREATE INDEX journal_due ON journal (due_at) WHERE due_at IS NOT NULL;
  CREATE TABLE entry (
    journal INTEGER NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL,
    version INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (journal, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX entry_id ON entry (journal, id);
  CREATE TABLE artifact (
    journal INTEGER NOT NULL, id TEXT NOT NULL, bytes BLOB NOT NULL, UNIQUE (journal, id)
  ) STRICT;
  PRAGMA application_id = ${APPLICATION_ID};
`,
  `
  CREATE TABLE IF NOT EXISTS counter (
    name TEXT PRIMARY KEY, used INTEGER NOT NULL, at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS reservation (
    id TEXT PRIMARY KEY, counter TEXT NOT NULL, amount INTEGER NOT NULL, at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`,
  `
  ALTER TABLE journal ADD COLUMN host TEXT;
  ALTER TABLE journal ADD COLUMN head TEXT;
  ALTER TABLE entry ADD COLUMN head TEXT;
  CREATE TRIGGER entry_sealed BEFORE INSERT ON entry WHEN NEW.head IS NULL
    BEGIN SELECT RAISE(ABORT, 'a newer version has taken this store over; end this process'); END;
  CREATE INDEX journal_host ON journal (host) WHERE host IS NOT NULL;
  CREATE TABLE host (name TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`,
  // And entries are written as tuples, which to 0.4 are of a newer version's kinds.
  `
  ALTER TABLE journal ADD COLUMN changed INTEGER;
  CREATE INDEX journal_place ON journal (${TRANSPORT}, ${PLACE});
`,
  `
  CREATE TABLE snapshot (
    journal INTEGER PRIMARY KEY, version TEXT NOT NULL, last INTEGER NOT NULL, head TEXT NOT NULL,
    seal TEXT NOT NULL, bytes BLOB NOT NULL
  ) STRICT;
`,
  // A cache: what lists tell of a journal, as long as `last` is its last entry.
  `
  CREATE TABLE listed (journal INTEGER PRIMARY KEY, last INTEGER NOT NULL, text TEXT NOT NULL) STRICT;
`,
];
const SCHEMA_VERSION = STEPS.length;
/** The last program that wrote each version. */
const WRITERS: Readonly<Record<number, string>> = { 1: "0.1", 2: "0.3", 3: "0.4" };
const LISTED = "CREATE TEMP TABLE listed (journal INTEGER, last INTEGER, text TEXT);";
/** What the tables of older versions lack, beside the file: it is not touched. */
const SHOWN_AS_NOW: Readonly<Record<number, string>> = {
  2: `
  CREATE TEMP VIEW journal AS SELECT *, NULL AS host, NULL AS head, NULL AS changed FROM main.journal;
  CREATE TEMP VIEW entry AS SELECT *, NULL AS head FROM main.entry;
  CREATE TEMP TABLE host (name TEXT, at INTEGER);
  ${LISTED}
`,
  3: `CREATE TEMP VIEW journal AS SELECT *, NULL AS changed FROM main.journal; ${LISTED}`,
};

/**
 * Opens the file to be read, making it and its folder when missing: in WAL mode, readable by its owner only. An older
 * version's file is brought up to this one's, all at once or not at all, which `warn` is told; that version refuses it from
 * then on.
 * @throws BotError STORE_CORRUPT, STORE_FOREIGN, STORE_NEWER, STORE_UNSAFE (the file is untouched), STORE_UNAVAILABLE
 */
export async function openDatabase(
  path: string,
  warn: (text: string) => void,
  kindOf?: KindOf,
): Promise<DatabaseSync> {
  refuseNetwork(dirname(path), kindOf);
  await retryWhileLocked(path, () => inspect(path));
  create(path);
  const db = connect(path);
  try {
    await retryWhileLocked(path, () => db.exec("PRAGMA journal_mode = WAL"));
    db.exec(SYNCHRONOUS.full);
    const before = await upgrade(db, path);
    const writer = WRITERS[before];
    if (writer !== undefined) warn(upgradedText(path, before, SCHEMA_VERSION, writer));
    db.exec("PRAGMA query_only = ON");
    return db;
  } catch (error) {
    db.close();
    throw translate(error, path);
  }
}

/**
 * A further connection to a file that is open, to write. A commit outlives the process, not the machine: that is what `flush` is
 * for. @throws BotError STORE_UNAVAILABLE
 */
export function openToWrite(path: string): Promise<DatabaseSync> {
  return retryWhileLocked(path, () => {
    const db = connect(path);
    db.exec(SYNCHRONOUS.normal);
    return db;
  });
}

/** Returns which version it was. A file of this version is not locked: a start must not wait for whoever writes to it. */
async function upgrade(db: DatabaseSync, path: string): Promise<number> {
  const found = userVersion(db);
  if (found >= SCHEMA_VERSION) return found;
  return transact(db, path, () => {
    const version = userVersion(db); // another process may have been first
    for (const step of STEPS.slice(version)) db.exec(step);
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    return version;
  });
}

/**
 * Opens an older version's file to be read as it lies, with what its tables lack; `warn` is told. Undefined: there is none
 * such.
 * @throws what `openDatabase` throws
 */
export async function openOlder(
  path: string,
  warn: (text: string) => void,
  kindOf?: KindOf,
): Promise<DatabaseSync | undefined> {
  refuseNetwork(dirname(path), kindOf);
  const version = await retryWhileLocked(path, () => inspect(path));
  const writer = WRITERS[version];
  if (writer === undefined) return undefined;
  const db = connect(path, true);
  try {
    db.exec(SHOWN_AS_NOW[Math.max(version, 2)] ?? "");
  } catch (error) {
    db.close();
    throw translate(error, path);
  }
  warn(upgradeAheadText(path, version, SCHEMA_VERSION, writer));
  return db;
}

function userVersion(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
}

function connect(path: string, readOnly = false): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0, readOnly });
  } catch (error) {
    throw translate(error, path);
  }
}

/** SQLite gives its write-ahead log the file's own mode, so the file is private before SQLite sees it. */
function create(path: string): void {
  makeFolder(dirname(path));
  try {
    closeSync(openSync(path, "a", 0o600));
  } catch (error) {
    const text = `${path} could not be created (${messageOf(error)}); check that the folder can be written.`;
    throw new BotError("STORE_UNAVAILABLE", text, { cause: error });
  }
}

/** Refuses a file that is not ours, before anything could write to it. Returns its version; 0: there is nothing yet. */
function inspect(path: string): number {
  if (!existsSync(path)) return 0;
  const db = connect(path, true);
  try {
    const tables = db.prepare("SELECT count(*) AS n FROM sqlite_master").get()?.["n"];
    if (tables === 0) return 0;
    const owner = db.prepare("PRAGMA application_id").get()?.["application_id"];
    if (owner !== APPLICATION_ID) {
      const text = `${path} is a database of another program; point DATA_DIR at a folder of Watchkeeper's own.`;
      throw new BotError("STORE_FOREIGN", text);
    }
    const version = userVersion(db);
    if (version > SCHEMA_VERSION) throw newerStore(path, version, SCHEMA_VERSION);
    return version;
  } finally {
    db.close();
  }
}

/** SQLite's extended result code; the low byte is the primary one (sqlite.org/rescode.html). */
function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode : undefined;
}

/** Another connection is writing; worth another try. */
export function isLocked(error: unknown): boolean {
  const code = (sqliteCode(error) ?? 0) & 0xff;
  return code === 5 || code === 6; // SQLITE_BUSY, SQLITE_LOCKED
}

/** SQLITE_FULL, and SQLITE_IOERR's WRITE, FSYNC, DIR_FSYNC and TRUNCATE. */
const REFUSED_WRITES: ReadonlySet<number> = new Set([13, 778, 1034, 1290, 1546]);

/** SQLITE_CONSTRAINT, MISMATCH, MISUSE and RANGE: the program asked for what the tables do not take. */
const OWN_MISTAKES: ReadonlySet<number> = new Set([19, 20, 21, 25]);

/** SQLite's errors as errors an operator can act on; the program's own mistakes as they are, since waiting mends none. */
export function translate(error: unknown, path: string): unknown {
  const code = sqliteCode(error);
  if (code === undefined || OWN_MISTAKES.has(code & 0xff)) return error;
  const fail = (failed: ErrorCode, text: string) => new BotError(failed, text, { cause: error });
  const said = messageOf(error);
  if ((code & 0xff) === 11 || code === 26) {
    const text = `${path} is damaged or not a database (${said}); restore a backup or move it away.`;
    return fail("STORE_CORRUPT", text);
  }
  if (REFUSED_WRITES.has(code)) {
    const text = `The disk refused to write ${path} (${said}); nothing was written. Free some space, then repeat.`;
    return fail("STORE_FULL", text);
  }
  const text = `${path} could not be used (${said}); check that the folder exists, is writable and no process holds its lock.`;
  return fail("STORE_UNAVAILABLE", text);
}

/** Repeats what finds the file locked, for up to 2 s. `node:sqlite` itself would block the event loop while it waits. */
async function retryWhileLocked<T>(path: string, attempt: () => T): Promise<T> {
  for (const began = performance.now(); ;) {
    try {
      return attempt();
    } catch (error) {
      if (!isLocked(error) || performance.now() - began > BUSY_MS) throw translate(error, path);
      await sleep(1 + Math.random() * 20);
    }
  }
}

export type Observe = <T>(work: () => T) => Promise<T>;

/** How long a chain of looks may hold the event loop, in ms. */
const LONGEST_MS = 4;

/** Returns what runs `work`, which writes nothing, on one state of the store; the event loop turns now and then meanwhile. */
export function createObserve(db: DatabaseSync, path: string): Observe {
  const begin = db.prepare("BEGIN");
  const end = db.prepare("COMMIT");
  const turn = { held: 0, end: undefined as Promise<void> | undefined };

  async function endOfTurn(): Promise<void> {
    await turnOfLoop();
    turn.held = 0;
    turn.end = undefined;
  }

  function observe<T>(work: () => T): T {
    turn.end ??= endOfTurn();
    const began = performance.now();
    begin.run();
    try {
      return work();
    } finally {
      if (db.isTransaction) end.run();
      turn.held += performance.now() - began;
    }
  }

  return async (work) => {
    while (turn.held > LONGEST_MS) await turn.end;
    return retryWhileLocked(path, () => observe(work));
  };
}

/** What is damaged. Reads all of the file. @throws BotError STORE_CORRUPT where it cannot be read at all */
export function damageOf(db: DatabaseSync, path: string): string | undefined {
  try {
    const said = db.prepare("PRAGMA quick_check(5)").all();
    const problems = said.map((row) => String(row["quick_check"])).filter((text) => text !== "ok");
    return problems.length === 0 ? undefined : `${path} is damaged: ${problems.join("; ")}`;
  } catch (error) {
    throw translate(error, path);
  }
}

/** Runs `work` as one transaction: all of it is committed when this returns, or nothing was written. */
async function transact<T>(db: DatabaseSync, path: string, work: () => T): Promise<T> {
  return retryWhileLocked(path, () => {
    // From BEGIN to COMMIT nothing else of this process may come between: one connection is one transaction.
    db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      db.exec("COMMIT");
      return result;
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
  });
}
