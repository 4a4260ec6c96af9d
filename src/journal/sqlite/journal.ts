import { beatOf } from "../../core/host-beat.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import { decodeChain } from "../decode.ts";
import {
  type Journal,
  type JournalReader,
  type JournalSummary,
  knownOf,
  MAX_IDLE_MS,
} from "../journal.ts";
import { createWatchers } from "../watchers.ts";
import { putArtifact, readArtifact } from "./artifacts.ts";
import { observe, openDatabase, openOlder, transact } from "./connection.ts";
import { createCounters } from "./counters.ts";
import { type JournalRow, prepare, prepareReads, type Statements } from "./statements.ts";
import * as verbs from "./verbs.ts";

export interface SqliteOptions {
  /** A file, created with its folder when missing, or `:memory:`. Several processes may share the file. */
  path: string;
  /** The store's clock, ms since 1970; entry times never run backwards within a journal whatever it does. */
  now?: () => number;
  /** Told, in a sentence, that an older version's file is upgraded, or would be by a start. */
  warn?: (text: string) => void;
}

/**
 * Opens the embedded store: one SQLite file, every commit flushed to disk.
 * @throws BotError STORE_CORRUPT, STORE_FOREIGN, STORE_NEWER (the file is untouched), STORE_UNAVAILABLE
 */
export async function openSqliteJournal({
  path,
  now = Date.now,
  warn = () => {},
}: SqliteOptions): Promise<Journal> {
  const db = await openDatabase(path, warn);
  const sql = prepare(db);
  const counters = createCounters(db);
  // What is wrong with the store the verbs say; what was not dropped the next start drops.
  await transact(db, path, () => counters.forget(now())).catch(() => {});
  return createJournal({ db, path, sql, counters, now, watchers: createWatchers(lastOf(sql)) });
}

/**
 * Opens the store for who only looks: an older version's file stays as it is.
 * @throws what `openSqliteJournal` throws
 */
export async function readSqliteJournal(options: SqliteOptions): Promise<JournalReader> {
  const { path, now = Date.now, warn = () => {} } = options;
  const db = await openOlder(path, warn);
  if (db === undefined) return openSqliteJournal(options);
  const reader = createReader({ db, path, sql: prepareReads(db), now });
  return { ...reader, close: async () => db.close() };
}

function createReader(store: verbs.Reading): Omit<JournalReader, "close"> {
  const { db, path, sql, now } = store;
  const see = <T>(work: () => T) => observe(db, path, work);
  return {
    async read(key, after = 0) {
      const known = knownOf(after);
      const chain = await see(() => verbs.read(store, key, known));
      return chain === undefined ? [] : decodeChain(key, chain);
    },
    has: (key) => see(() => (verbs.rowOf(store, key)?.last ?? 0) > 0),
    async hosts() {
      const rows = await see(() => sql.hosts.all() as unknown as { name: string; at: number }[]);
      return rows.map(({ name, at }) => beatOf(name, at, now()));
    },
    async *list({ prefix = "" } = {}) {
      const rows = await see(() => sql.list.all(prefix) as unknown as JournalRow[]);
      for (const row of rows) yield summaryOf(row, now());
    },
    readArtifact: (key, id, range) => see(() => readArtifact(store, key, id, range)),
    check: () =>
      see(() => {
        const said = db.prepare("PRAGMA quick_check(5)").all();
        const problems = said
          .map((row) => String(row["quick_check"]))
          .filter((text) => text !== "ok");
        return problems.length === 0 ? undefined : `${path} is damaged: ${problems.join("; ")}`;
      }),
  };
}

function createJournal(store: verbs.Store): Journal {
  const { db, path, sql, counters, now, watchers } = store;
  const change = <T>(work: () => T) => transact(db, path, work);
  const see = <T>(work: () => T) => observe(db, path, work);
  return {
    ...createReader(store),
    async post(key, draft) {
      const posted = await change(() => verbs.post(store, key, draft));
      watchers.notify(key, posted.entry.seq);
      return posted;
    },
    lease: (key, ttlMs) => change(() => verbs.lease(store, key, ttlMs)),
    renew: (lease) => change(() => verbs.renew(store, lease)),
    async append(lease, after, drafts, { before } = {}) {
      const known = knownOf(after);
      const reply = await change(() => verbs.append(store, lease, known, drafts, before));
      const last = reply.kind === "ok" ? reply.unseen.at(-1)?.seq : undefined;
      if (last !== undefined) watchers.notify(lease.key, last);
      return reply;
    },
    release(lease, after, dueAt, host) {
      const known = knownOf(after);
      return change(() => verbs.release(store, lease, known, dueAt, host));
    },
    watch: (key, onChange) => watchers.add(key, onChange),
    async *due(host = "") {
      for (const row of await see(() => sql.due.all(now(), host))) yield row["key"] as JournalKey;
    },
    beat: (host) =>
      change(() => {
        sql.beat.run(host, now());
        sql.forgetHosts.run(now() - MAX_IDLE_MS);
      }),
    putArtifact: (key, bytes) => change(() => putArtifact(store, key, bytes)),
    reserve: (counter, amount, limit) =>
      change(() => counters.reserve(counter, amount, limit, now())),
    used: (counter) => see(() => counters.used(counter)),
    commitReservation: (reservation, actual) =>
      change(() => counters.settle(reservation, actual, now())),
    async close() {
      watchers.close();
      db.close();
    },
  };
}

/** Asks only when SQLite's own counter says that another connection has written. */
function lastOf(sql: Statements): (keys: readonly JournalKey[]) => number[] | undefined {
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
