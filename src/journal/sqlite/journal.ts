import { beatOf } from "../../core/host-beat.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import { type Backend, createJournal, createReader, type ReadBackend } from "../create.ts";
import { type Journal, type JournalReader, type JournalSummary, MAX_IDLE_MS } from "../journal.ts";
import { decodeChain } from "../seal.ts";
import type { OpenOptions } from "../store.ts";
import { observe, openDatabase, openOlder, transact } from "./connection.ts";
import { type JournalRow, prepare, prepareReads, type Statements } from "./statements.ts";
import * as verbs from "./verbs.ts";

interface SqliteOptions extends OpenOptions {
  /** A file, created with its folder when missing, or `:memory:`. Several processes may share the file. */
  path: string;
}

/**
 * Opens the embedded store: one SQLite file, every commit flushed to disk. Entry times never run backwards within a journal,
 * whatever the clock does.
 * @throws BotError STORE_CORRUPT, STORE_FOREIGN, STORE_NEWER (the file is untouched), STORE_UNAVAILABLE
 */
export async function openSqliteJournal(options: SqliteOptions): Promise<Journal> {
  const { path, now = Date.now, warn = () => {} } = options;
  const db = await openDatabase(path, warn);
  const store = { db, path, sql: prepare(db), now };
  // A start does not wait for it. What is wrong with the store the verbs say; what was not dropped the next start drops.
  void transact(db, path, () => verbs.forget(store)).catch(() => {});
  return createJournal({ ...readBackend(store), ...backend(store) });
}

/**
 * Opens the store for who only looks: an older version's file stays as it is.
 * @throws what `openSqliteJournal` throws
 */
export async function readSqliteJournal(options: SqliteOptions): Promise<JournalReader> {
  const { path, now = Date.now, warn = () => {} } = options;
  const db = await openOlder(path, warn);
  if (db === undefined) return openSqliteJournal(options);
  return createReader(readBackend({ db, path, sql: prepareReads(db), now }));
}

function readBackend(file: verbs.ReadableFile): ReadBackend {
  const { db, path, sql, now } = file;
  const see = <T>(work: () => T) => observe(db, path, work);
  return {
    async read(key, after) {
      const chain = await see(() => verbs.read(file, key, after));
      return chain === undefined ? [] : decodeChain(key, chain);
    },
    lastOf: (keys) => see(() => keys.map((key) => verbs.rowOf(file, key)?.last ?? 0)),
    async hosts() {
      const rows = await see(() => sql.hosts.all() as unknown as { name: string; at: number }[]);
      return rows.map(({ name, at }) => beatOf(name, at, now()));
    },
    async *list(prefix) {
      const rows = await see(() => sql.list.all(prefix) as unknown as JournalRow[]);
      for (const row of rows) yield summaryOf(row, now());
    },
    getArtifact: (key, id, start, end) => see(() => verbs.getArtifact(file, key, id, start, end)),
    check: () =>
      see(() => {
        const said = db.prepare("PRAGMA quick_check(5)").all();
        const problems = said
          .map((row) => String(row["quick_check"]))
          .filter((text) => text !== "ok");
        return problems.length === 0 ? undefined : `${path} is damaged: ${problems.join("; ")}`;
      }),
    close: async () => db.close(),
  };
}

function backend(file: verbs.File): Omit<Backend, keyof ReadBackend> {
  const { db, path, sql, now } = file;
  const see = <T>(work: () => T) => observe(db, path, work);
  /** Each change is a transaction. */
  const change =
    <Args extends unknown[], T>(verb: (file: verbs.File, ...args: Args) => T) =>
    (...args: Args) =>
      transact(db, path, () => verb(file, ...args));
  return {
    post: change(verbs.post),
    lease: change(verbs.lease),
    renew: change(verbs.renew),
    append: change(verbs.append),
    release: change(verbs.release),
    look: createLook(sql),
    async *due(host = "") {
      for (const row of await see(() => sql.due.all(now(), host))) yield row["key"] as JournalKey;
    },
    beat: change((_, host: string) => {
      sql.beat.run(host, now());
      sql.forgetHosts.run(now() - MAX_IDLE_MS);
    }),
    putArtifact: change(verbs.putArtifact),
    setAside: change(verbs.setAside),
    settle: change(verbs.settle),
    used: (counter) => see(() => Number(sql.count.get(counter)?.["used"] ?? 0)),
  };
}

/** Looks only when SQLite's own counter says that another connection has written. */
function createLook(sql: Statements): Backend["look"] {
  let seen: unknown;
  return (keys) => {
    const version = sql.version.get()?.["data_version"];
    if (version === seen) return undefined;
    const found = keys.map((key) => Number(sql.row.get(key)?.["last"] ?? 0));
    seen = version;
    return found;
  };
}

function summaryOf(row: JournalRow, time: number): JournalSummary {
  const { key, last, last_at: lastAt } = row;
  const leased = row.token !== null && row.due_at !== null && time < row.due_at;
  return { key, last, lastAt, dueAt: row.due_at ?? undefined, leased, now: time };
}
