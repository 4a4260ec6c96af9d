import { createHash, randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type AppendKind,
  type Draft,
  type Entry,
  ENTRY_VERSION,
  decodeContent,
  encodeDraft,
  isFact,
} from "../core/entry.ts";
import { BotError, messageOf } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import {
  type Journal,
  type JournalSummary,
  type Lease,
  MAX_ARTIFACT_BYTES,
  type StoredEntry,
} from "./journal.ts";

/** "WKJR": marks a database file as a Watchkeeper journal (SQLite's application_id). */
const APPLICATION_ID = 0x574b4a52;
const SCHEMA_VERSION = 1;
/** How long a locked store is retried before STORE_UNAVAILABLE, as the port promises. */
const BUSY_MS = 2_000;
/** How often another process's writes are looked for while something is watched; the port promises a second. */
const WATCH_MS = 200;

/** While a token is stored, `due_at` is the lease's end. */
const SCHEMA = `
  CREATE TABLE journal (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, last INTEGER NOT NULL, first_at INTEGER NOT NULL,
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
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

interface JournalRow {
  id: number;
  key: JournalKey;
  last: number;
  first_at: number;
  last_at: number;
  token: string | null;
  attempts: number;
  due_at: number | null;
}

interface EntryRow {
  seq: number;
  id: string;
  at: number;
  kind: string;
  version: number;
  body: string;
}

export interface SqliteOptions {
  /** A file, created with its folder when missing, or `:memory:`. Several processes may share the file. */
  path: string;
  /** The store's clock, ms since 1970; entry times never run backwards within a journal whatever it does. */
  now?: () => number;
}

/**
 * Opens the embedded store: one SQLite file in WAL mode, every commit flushed to disk.
 * @throws BotError STORE_CORRUPT, STORE_FOREIGN, STORE_NEWER (the file is untouched), STORE_UNAVAILABLE
 */
export async function openSqliteJournal(options: SqliteOptions): Promise<Journal> {
  const { path, now = Date.now } = options;
  if (path !== ":memory:") inspect(path);
  const db = connect(path);
  try {
    await retryWhileLocked(path, () => db.exec("PRAGMA journal_mode = WAL"));
    db.exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF");
    await transact(db, path, () => {
      if (userVersion(db) === 0) db.exec(SCHEMA);
    });
    if (path !== ":memory:") chmodSync(path, 0o600);
  } catch (error) {
    db.close();
    throw translate(error, path);
  }
  return createJournal(db, path, now);
}

function userVersion(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
}

function connect(path: string, readOnly = false): DatabaseSync {
  try {
    if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return new DatabaseSync(path, { timeout: 0, readOnly });
  } catch (error) {
    throw translate(error, path);
  }
}

/** Refuses a file that is not ours, before anything could write to it. */
function inspect(path: string): void {
  if (!existsSync(path)) return;
  const db = connect(path, true);
  try {
    const tables = db.prepare("SELECT count(*) AS n FROM sqlite_master").get()?.["n"];
    if (tables === 0) return;
    const owner = db.prepare("PRAGMA application_id").get()?.["application_id"];
    if (owner !== APPLICATION_ID) {
      throw new BotError(
        "STORE_FOREIGN",
        `${path} is a database of another program; point DATA_DIR at a folder of Watchkeeper's own.`,
      );
    }
    const version = userVersion(db);
    if (version > SCHEMA_VERSION) {
      throw new BotError(
        "STORE_NEWER",
        `${path} was written by a newer version (store ${version}, this program reads ${SCHEMA_VERSION}); start that version.`,
      );
    }
  } catch (error) {
    // Locked by its owner just now: what it is will be seen when the lock is free, by `transact`.
    if (!isLocked(error)) throw translate(error, path);
  } finally {
    db.close();
  }
}

/** SQLite's extended result code; the low byte is the primary one (sqlite.org/rescode.html). */
function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode : undefined;
}

function isLocked(error: unknown): boolean {
  const code = (sqliteCode(error) ?? 0) & 0xff;
  return code === 5 || code === 6; // SQLITE_BUSY, SQLITE_LOCKED
}

/** SQLITE_FULL, and SQLITE_IOERR's WRITE, FSYNC, DIR_FSYNC and TRUNCATE. */
const REFUSED_WRITES: ReadonlySet<number> = new Set([13, 778, 1034, 1290, 1546]);

/** SQLite's errors as errors an operator can act on. */
function translate(error: unknown, path: string): unknown {
  const code = sqliteCode(error);
  if (code === undefined) return error;
  const cause = { cause: error };
  const said = messageOf(error);
  if ((code & 0xff) === 11 || code === 26) {
    return new BotError(
      "STORE_CORRUPT",
      `${path} is damaged or not a database (${said}); restore a backup or move it away.`,
      cause,
    );
  }
  if (REFUSED_WRITES.has(code)) {
    return new BotError(
      "STORE_FULL",
      `The disk refused to write ${path} (${said}); nothing was written. Free some space, then repeat.`,
      cause,
    );
  }
  return new BotError(
    "STORE_UNAVAILABLE",
    `${path} could not be used (${said}); check that the folder exists, is writable and no process holds its lock.`,
    cause,
  );
}

/** `node:sqlite` would block the event loop while it waits for a lock, so waiting is done here. */
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

function decodeRow(row: EntryRow): StoredEntry {
  const { seq, id, at, kind, version } = row;
  try {
    const content = decodeContent(kind, version, JSON.parse(row.body));
    if (content === undefined) return { seq, id, at, kind: "newer", written: `${kind}/${version}` };
    return { seq, id, at, ...content };
  } catch (error) {
    throw new BotError(
      "ENTRY_INVALID",
      `Entry ${seq} (${kind}) does not have the form of its kind; the journal was left alone.`,
      { cause: error },
    );
  }
}

function prepare(db: DatabaseSync) {
  const entryColumns = "seq, id, at, kind, version, body";
  return {
    row: db.prepare("SELECT * FROM journal WHERE key = ?"),
    create: db.prepare(
      "INSERT INTO journal (key, last, first_at, last_at) VALUES (?, 0, ?, ?) RETURNING *",
    ),
    advance: db.prepare("UPDATE journal SET last = ?, last_at = ? WHERE id = ?"),
    hold: db.prepare("UPDATE journal SET token = ?, due_at = ?, attempts = ? WHERE id = ?"),
    insert: db.prepare(
      "INSERT INTO entry (journal, seq, id, at, kind, version, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
    ),
    byId: db.prepare(`SELECT ${entryColumns} FROM entry WHERE journal = ? AND id = ?`),
    after: db.prepare(
      `SELECT ${entryColumns} FROM entry WHERE journal = ? AND seq > ? ORDER BY seq`,
    ),
    due: db.prepare("SELECT key FROM journal WHERE due_at <= ? ORDER BY due_at"),
    list: db.prepare(
      "SELECT * FROM journal WHERE substr(key, 1, length(?1)) = ?1 ORDER BY last_at DESC, id DESC",
    ),
    putArtifact: db.prepare(
      "INSERT INTO artifact (journal, id, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    ),
    artifact: db.prepare(
      "SELECT substr(bytes, ?3 + 1, ?4) AS part FROM artifact WHERE journal = ?1 AND id = ?2",
    ),
    version: db.prepare("PRAGMA data_version"),
  };
}

type Statements = Record<keyof ReturnType<typeof prepare>, StatementSync>;

function createJournal(db: DatabaseSync, path: string, now: () => number): Journal {
  const sql: Statements = prepare(db);
  const watchers = createWatchers(sql);
  const rowOf = (key: JournalKey) => sql.row.get(key) as JournalRow | undefined;
  const clock = (row: JournalRow) => Math.max(now(), row.last_at);
  const readAfter = (row: JournalRow, after: number) =>
    (sql.after.all(row.id, after) as unknown as EntryRow[]).map(decodeRow);
  const hold = (row: JournalRow, token: string | null, dueAt: number | null, attempts: number) =>
    sql.hold.run(token, dueAt, attempts, row.id);

  function write(row: JournalRow, drafts: readonly Draft[]): Entry[] {
    const at = clock(row);
    const entries = drafts.map((draft, i) => ({ seq: row.last + 1 + i, at, ...draft }));
    for (const entry of entries) {
      const { seq, at: _at, ...draft } = entry;
      const { id, kind, body } = encodeDraft(draft);
      sql.insert.run(row.id, seq, id, at, kind, ENTRY_VERSION, body);
    }
    sql.advance.run(row.last + entries.length, at, row.id);
    return entries;
  }

  /** The journal's row when `lease` still holds it. */
  function held(lease: Lease): JournalRow | undefined {
    const row = rowOf(lease.key);
    return row !== undefined && row.token === lease.token ? row : undefined;
  }

  function appendNow(
    lease: Lease,
    after: number,
    drafts: readonly Draft<AppendKind>[],
    before: number | undefined,
  ): Awaited<ReturnType<Journal["append"]>> {
    const facts = drafts.filter(isFact).length;
    if (facts !== 0 && facts !== drafts.length) {
      throw new TypeError("facts and decisions never share an append");
    }
    const row = held(lease);
    if (row === undefined) return { kind: "fenced" };
    const time = clock(row);
    const missing = drafts.filter((draft) => sql.byId.get(row.id, draft.id) === undefined);
    if (missing.length > 0) {
      if (before !== undefined && time >= before) return { kind: "late", now: time };
      if (facts === 0 && row.last !== after) {
        return { kind: "unseen", unseen: readAfter(row, after), now: time };
      }
      const written = write(row, missing);
      if (row.last === after) return { kind: "ok", unseen: written, now: time };
    }
    return { kind: "ok", unseen: readAfter(row, after), now: time };
  }

  return {
    read: (key, after = 0) =>
      retryWhileLocked(path, () => {
        const row = rowOf(key);
        return row === undefined ? [] : readAfter(row, after);
      }),

    async post(key, draft) {
      const result = await transact(db, path, () => {
        const time = now();
        const row = rowOf(key) ?? (sql.create.get(key, time, time) as unknown as JournalRow);
        const known = sql.byId.get(row.id, draft.id) as EntryRow | undefined;
        if (known !== undefined) return { entry: decodeRow(known), duplicate: true };
        const entry = { seq: row.last + 1, at: clock(row), ...draft };
        write(row, [draft]);
        hold(row, row.token, row.token === null ? entry.at : row.due_at, 0);
        return { entry, duplicate: false };
      });
      watchers.notify(key, result.entry.seq);
      return result;
    },

    lease: (key, ttlMs) =>
      transact(db, path, () => {
        const row = rowOf(key);
        if (row === undefined) return undefined;
        const time = clock(row);
        if (row.token !== null && row.due_at !== null && time < row.due_at) return undefined;
        const token = randomBytes(12).toString("base64url");
        hold(row, token, time + ttlMs, row.attempts + 1);
        return { lease: { key, token, ttlMs }, attempts: row.attempts + 1, now: time };
      }),

    renew: (lease) =>
      transact(db, path, () => {
        const row = held(lease);
        if (row === undefined) return { kind: "fenced" as const };
        const time = clock(row);
        hold(row, lease.token, time + lease.ttlMs, row.attempts);
        return { kind: "ok" as const, last: row.last, now: time };
      }),

    async append(lease, after, drafts, { before } = {}) {
      const reply = await transact(db, path, () => appendNow(lease, after, drafts, before));
      const last = reply.kind === "ok" ? reply.unseen.at(-1)?.seq : undefined;
      if (last !== undefined) watchers.notify(lease.key, last);
      return reply;
    },

    release: (lease, after, dueAt) =>
      transact(db, path, () => {
        const row = held(lease);
        if (row === undefined) return { kind: "fenced" as const };
        if (row.last !== after) return { kind: "unseen" as const, unseen: readAfter(row, after) };
        hold(row, null, dueAt ?? null, 0);
        return { kind: "ok" as const };
      }),

    watch: (key, onChange) => watchers.add(key, onChange),

    async *due() {
      const rows = await retryWhileLocked(path, () => sql.due.all(now()));
      for (const row of rows) yield row["key"] as JournalKey;
    },

    async *list({ prefix = "" } = {}) {
      const rows = await retryWhileLocked(
        path,
        () => sql.list.all(prefix) as unknown as JournalRow[],
      );
      for (const row of rows) yield summaryOf(row, now());
    },

    async putArtifact(key, bytes) {
      if (bytes.byteLength > MAX_ARTIFACT_BYTES) {
        throw new BotError(
          "ARTIFACT_TOO_LARGE",
          `An artifact may have ${MAX_ARTIFACT_BYTES} bytes, this one has ${bytes.byteLength}.`,
        );
      }
      const id = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
      await transact(db, path, () => {
        const row = rowOf(key);
        if (row === undefined) throw new TypeError(`no journal ${key} to put an artifact into`);
        sql.putArtifact.run(row.id, id, bytes);
      });
      return { id, bytes: bytes.byteLength };
    },

    readArtifact: (key, id, range = { start: 0, end: MAX_ARTIFACT_BYTES }) =>
      retryWhileLocked(path, () => {
        const row = rowOf(key);
        const found = row && sql.artifact.get(row.id, id, range.start, range.end - range.start);
        if (!(found?.["part"] instanceof Uint8Array)) {
          throw new BotError("ARTIFACT_UNKNOWN", `This thread has no artifact ${id}.`);
        }
        return found["part"];
      }),

    check: () =>
      retryWhileLocked(path, () => {
        const said = db.prepare("PRAGMA quick_check(5)").all().map((row) => String(row["quick_check"]));
        return said.join() === "ok" ? undefined : `${path} is damaged: ${said.join("; ")}`;
      }),

    close: async () => {
      watchers.close();
      db.close();
    },
  };
}

function summaryOf(row: JournalRow, time: number): JournalSummary {
  const { key, last } = row;
  const leased = row.token !== null && row.due_at !== null && time < row.due_at;
  return {
    key,
    last,
    firstAt: row.first_at,
    lastAt: row.last_at,
    dueAt: row.due_at ?? undefined,
    leased,
  };
}

/** Tells watchers of writes: this process's at once, other processes' by looking at SQLite's change counter. */
function createWatchers(sql: Statements) {
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
    } catch (error) {
      if (!isLocked(error)) throw error; // looked at again in WATCH_MS
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
