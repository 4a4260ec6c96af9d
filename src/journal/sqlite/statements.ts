import type { DatabaseSync, StatementSync } from "node:sqlite";
import { HOST_GONE_MS } from "../../core/host-beat.ts";
import type { JournalKey } from "../../core/journal-key.ts";

export interface JournalRow {
  id: number;
  key: JournalKey;
  last: number;
  last_at: number;
  head: string | null;
  token: string | null;
  attempts: number;
  due_at: number | null;
}

const ENTRY_COLUMNS = "seq, id, at, kind, version, body, head";

/** For who only looks. */
export function prepareReads(db: DatabaseSync) {
  return {
    row: db.prepare("SELECT * FROM journal WHERE key = ?"),
    headAt: db.prepare("SELECT head FROM entry WHERE journal = ? AND seq = ?"),
    after: db.prepare(
      `SELECT ${ENTRY_COLUMNS} FROM entry WHERE journal = ? AND seq > ? ORDER BY seq`,
    ),
    hosts: db.prepare("SELECT name, at FROM host ORDER BY name"),
    list: db.prepare(
      "SELECT * FROM journal WHERE key >= ?1 AND key < ?1 || char(1114111) ORDER BY last_at DESC, id DESC",
    ),
    artifact: db.prepare(
      "SELECT substr(bytes, ?3 + 1, ?4) AS part FROM artifact WHERE journal = ?1 AND id = ?2",
    ),
  };
}

export function prepare(db: DatabaseSync) {
  return {
    ...prepareReads(db),
    create: db.prepare("INSERT INTO journal (key, last, last_at) VALUES (?, 0, ?) RETURNING *"),
    advance: db.prepare("UPDATE journal SET last = ?, last_at = ?, head = ? WHERE id = ?"),
    hold: db.prepare(
      "UPDATE journal SET token = ?, due_at = ?, attempts = ?, host = ? WHERE id = ?",
    ),
    insert: db.prepare(
      "INSERT INTO entry (journal, seq, id, at, kind, version, body, head) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    byId: db.prepare(`SELECT ${ENTRY_COLUMNS} FROM entry WHERE journal = ? AND id = ?`),
    due: db.prepare(
      `SELECT key, due_at AS at FROM journal WHERE due_at <= ?1
       UNION SELECT key, NULL FROM journal WHERE host IS NOT NULL AND ifnull(due_at > ?1, TRUE)
         AND (host = ?2 OR host NOT IN (SELECT name FROM host WHERE at > ?1 - ${HOST_GONE_MS}))
       ORDER BY at`,
    ),
    beat: db.prepare(
      "INSERT INTO host (name, at) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET at = ?2",
    ),
    forgetHosts: db.prepare("DELETE FROM host WHERE at < ?"),
    putArtifact: db.prepare(
      "INSERT INTO artifact (journal, id, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    ),
    // A counter's `used` holds what was settled and what is set aside.
    setAside: db.prepare(
      `INSERT INTO counter (name, used, at) SELECT ?1, ?2, ?4 WHERE ?2 <= ?3
       ON CONFLICT DO UPDATE SET used = used + ?2, at = ?4 WHERE used + ?2 <= ?3`,
    ),
    count: db.prepare("SELECT used FROM counter WHERE name = ?"),
    // A reservation's row is there until it is settled: settling again finds nothing.
    reserve: db.prepare("INSERT INTO reservation (id, counter, amount, at) VALUES (?, ?, ?, ?)"),
    settle: db.prepare("DELETE FROM reservation WHERE id = ? RETURNING counter, amount"),
    correct: db.prepare("UPDATE counter SET used = used + ?, at = ? WHERE name = ?"),
    forgetCounters: db.prepare("DELETE FROM counter WHERE at < ?"),
    forgetReservations: db.prepare("DELETE FROM reservation WHERE at < ?"),
    version: db.prepare("PRAGMA data_version"),
  };
}

export type Statements = Record<keyof ReturnType<typeof prepare>, StatementSync>;
