import type { DatabaseSync, StatementSync } from "node:sqlite";
import { HOST_GONE_MS } from "../../core/host-beat.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import { PAGE } from "../journal.ts";
import { PLACE, TRANSPORT } from "./connection.ts";

export interface JournalRow {
  id: number;
  key: JournalKey;
  last: number;
  last_at: number;
  head: string | null;
  token: string | null;
  attempts: number;
  due_at: number | null;
  /** Its place in the order of changes: `JournalSummary.changed`. */
  place: number;
  /** Of those that are owed. */
  listed?: string | null;
}

const JOURNAL_COLUMNS = `id, key, last, last_at, head, token, attempts, due_at, ${PLACE} AS place`;
/** What was left for lists, as long as it is of the journal's end. */
const LISTED =
  "(SELECT text FROM listed WHERE listed.journal = journal.id AND listed.last = journal.last) AS listed";
const ENTRY_COLUMNS = "seq, id, at, kind, version, body, head";

/** For who only looks, at an older version's file too. */
export function prepareReads(db: DatabaseSync) {
  return {
    row: db.prepare(`SELECT ${JOURNAL_COLUMNS} FROM journal WHERE key = ?`),
    headAt: db.prepare("SELECT head FROM entry WHERE journal = ? AND seq = ?"),
    /** So many of them; -1: all. */
    after: db.prepare(
      `SELECT ${ENTRY_COLUMNS} FROM entry WHERE journal = ? AND seq > ? ORDER BY seq LIMIT ?`,
    ),
    hosts: db.prepare("SELECT name, at FROM host ORDER BY name"),
    last: db.prepare("SELECT last FROM journal WHERE key = ?"),
    // As many look-ups as there are transports.
    transports: db.prepare(
      `WITH RECURSIVE found (name) AS (SELECT min(${TRANSPORT}) FROM journal
       UNION ALL SELECT (SELECT min(${TRANSPORT}) FROM journal WHERE ${TRANSPORT} > found.name) FROM found WHERE name IS NOT NULL)
       SELECT name FROM found WHERE name IS NOT NULL`,
    ),
    // Comparing pairs would not use the index of an expression.
    newest: db.prepare(
      `SELECT ${JOURNAL_COLUMNS} FROM journal WHERE ${TRANSPORT} = ?1 AND ${PLACE} <= ?2 AND (${PLACE} < ?2 OR id < ?3)
       ORDER BY ${PLACE} DESC, id DESC LIMIT ${PAGE}`,
    ),
    changes: db.prepare(
      `SELECT ${JOURNAL_COLUMNS} FROM journal WHERE ${TRANSPORT} = ?1 AND ${PLACE} >= ?2 AND (${PLACE} > ?2 OR id >= ?3)
       ORDER BY ${PLACE}, id LIMIT ${PAGE}`,
    ),
    owed: db.prepare(
      `SELECT ${JOURNAL_COLUMNS}, ${LISTED} FROM journal WHERE due_at IS NOT NULL AND (due_at, id) > (?, ?)
       ORDER BY due_at, id LIMIT ${PAGE}`,
    ),
    waiting: db.prepare(
      `SELECT ${JOURNAL_COLUMNS}, ${LISTED} FROM journal WHERE host IS NOT NULL AND due_at IS NULL`,
    ),
    artifact: db.prepare(
      "SELECT substr(bytes, ?3 + 1, ?4) AS part FROM artifact WHERE journal = ?1 AND id = ?2",
    ),
  };
}

/** What workers look up. */
export function prepareLooks(db: DatabaseSync) {
  return {
    due: db.prepare(
      `SELECT key, due_at AS at FROM journal WHERE due_at <= ?1
       UNION SELECT key, NULL FROM journal WHERE host IS NOT NULL AND ifnull(due_at > ?1, TRUE)
         AND (host = ?2 OR host NOT IN (SELECT name FROM host WHERE at > ?1 - ${HOST_GONE_MS}))
       ORDER BY at`,
    ),
    // A counter's `used` holds what was settled and what is set aside.
    count: db.prepare("SELECT used FROM counter WHERE name = ?"),
    isSetAside: db.prepare("SELECT 1 AS found FROM reservation WHERE id = ?"),
    version: db.prepare("PRAGMA data_version"),
    snapshot: db.prepare(
      `SELECT version, snapshot.last, snapshot.head, seal, bytes FROM snapshot
       JOIN journal ON journal.id = journal WHERE key = ?`,
    ),
  };
}

/** What the verbs need that write. */
export function prepareWrites(db: DatabaseSync) {
  return {
    ...prepareReads(db),
    create: db.prepare(
      `INSERT INTO journal (key, last, last_at) VALUES (?, 0, ?) RETURNING ${JOURNAL_COLUMNS}`,
    ),
    // After all others of its transport, whatever the clock says: who asks for changes since then misses none.
    advance: db.prepare(
      `UPDATE journal SET last = ?1, last_at = ?2, head = ?3,
         changed = max(?2, 1 + ifnull((SELECT ${PLACE} FROM journal AS other WHERE ${TRANSPORT} = ?5 ORDER BY ${PLACE} DESC LIMIT 1), 0))
       WHERE id = ?4`,
    ),
    hold: db.prepare(
      "UPDATE journal SET token = ?, due_at = ?, attempts = ?, host = ? WHERE id = ?",
    ),
    leave: db.prepare("INSERT OR REPLACE INTO listed (journal, last, text) VALUES (?, ?, ?)"),
    takeAway: db.prepare("DELETE FROM listed WHERE journal = ?"),
    insert: db.prepare(
      "INSERT INTO entry (journal, seq, id, at, kind, version, body, head) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    /** By the two forms that its id may have there. */
    byId: db.prepare(`SELECT ${ENTRY_COLUMNS} FROM entry WHERE journal = ? AND id IN (?, ?)`),
    beat: db.prepare(
      "INSERT INTO host (name, at) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET at = ?2",
    ),
    forgetHosts: db.prepare("DELETE FROM host WHERE at < ?"),
    // Only of what the journal ends with: else words may have been taken away since.
    keepSnapshot: db.prepare(
      `INSERT OR REPLACE INTO snapshot (journal, version, last, head, seal, bytes)
       SELECT id, ?2, last, head, ?5, ?6 FROM journal WHERE key = ?1 AND last = ?3 AND head = ?4`,
    ),
    dropSnapshot: db.prepare("DELETE FROM snapshot WHERE journal = ?"),
    putArtifact: db.prepare(
      "INSERT INTO artifact (journal, id, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    ),
    setAside: db.prepare(
      `INSERT INTO counter (name, used, at) SELECT ?1, ?2, ?4 WHERE ?2 <= ?3
       ON CONFLICT DO UPDATE SET used = used + ?2, at = ?4 WHERE used + ?2 <= ?3`,
    ),
    // A reservation's row is there until it is settled: settling again finds nothing.
    reserve: db.prepare("INSERT INTO reservation (id, counter, amount, at) VALUES (?, ?, ?, ?)"),
    settle: db.prepare("DELETE FROM reservation WHERE id = ? RETURNING counter, amount"),
    correct: db.prepare("UPDATE counter SET used = used + ?, at = ? WHERE name = ?"),
    forgetCounters: db.prepare("DELETE FROM counter WHERE at < ?"),
    forgetReservations: db.prepare("DELETE FROM reservation WHERE at < ?"),
  };
}

type Prepared<T> = Record<keyof T, StatementSync>;
export type Reads = Prepared<ReturnType<typeof prepareReads>>;
export type Looks = Prepared<ReturnType<typeof prepareLooks>>;
export type Writes = Prepared<ReturnType<typeof prepareWrites>>;
