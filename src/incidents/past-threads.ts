import type { DatabaseSync } from "node:sqlite";
import { matchesFor } from "./search.ts";
import type { ReadHead } from "./read-head.ts";

/** What a thread was about, as lists of past ones show it. Its texts hold no secrets. */
export interface PastThread {
  /** Its journal's key. */
  id: string;
  /** Where it is shown besides. */
  views: string[];
  /** When it was last written to, ms since 1970. */
  at: number;
  /** Who asked first, and what. */
  by: string;
  question: string;
  /** The newest. */
  answer: string | undefined;
}

export type FoundPast = PastThread & ReadHead;

export interface PastRow extends ReadHead {
  /** Undefined: nothing of it may be shown. */
  past: (PastThread & { words: string }) | undefined;
}

const SCHEMA = `
  CREATE TABLE past_head (id TEXT PRIMARY KEY, last INTEGER NOT NULL, head TEXT) WITHOUT ROWID;
  CREATE TABLE past (row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, shown TEXT NOT NULL);
  CREATE VIRTUAL TABLE past_words USING fts5 (words, content = '', contentless_delete = 1, prefix = '2 3');
  CREATE TABLE past_mark (transport TEXT PRIMARY KEY, mark INTEGER NOT NULL) WITHOUT ROWID;`;

/**
 * Threads and their words. Who may see one is not known here, and changes: so nothing of one thread changes how another is
 * found, neither its place nor which spellings are tried.
 */
export function openPastThreads(db: DatabaseSync) {
  db.exec(SCHEMA);
  const sql = {
    head: db.prepare("SELECT last, head FROM past_head WHERE id = ?"),
    keep: db.prepare("INSERT OR REPLACE INTO past_head (id, last, head) VALUES (?, ?, ?)"),
    mark: db.prepare("SELECT mark FROM past_mark WHERE transport = ?"),
    setMark: db.prepare("INSERT OR REPLACE INTO past_mark (transport, mark) VALUES (?, ?)"),
    remove: db.prepare("DELETE FROM past WHERE id = ? RETURNING row"),
    removeWords: db.prepare("DELETE FROM past_words WHERE rowid = ?"),
    add: db.prepare("INSERT INTO past (id, at, shown) VALUES (?, ?, ?)"),
    addWords: db.prepare("INSERT INTO past_words (rowid, words) VALUES (?, ?)"),
    find: db.prepare(
      `SELECT shown, last, head FROM past_words CROSS JOIN past ON past.row = past_words.rowid CROSS JOIN past_head USING (id) WHERE past_words MATCH ?1
         AND EXISTS (SELECT 1 FROM json_each(?3) WHERE instr(past.id, value) = 1)
       ORDER BY past.row IN (SELECT rowid FROM past_words WHERE past_words MATCH ?2) DESC, at DESC, id LIMIT ?4`,
    ),
  };

  function put({ id, last, head, past }: PastRow): void {
    sql.keep.run(id, last, head ?? null);
    const before = sql.remove.get(id)?.["row"];
    if (before !== undefined) sql.removeWords.run(before);
    if (past === undefined) return;
    const { words, ...shown } = past;
    const { lastInsertRowid: row } = sql.add.run(id, past.at, JSON.stringify(shown));
    sql.addWords.run(row, words);
  }

  return {
    mark(transport: string): number | undefined {
      const mark = sql.mark.get(transport)?.["mark"];
      return typeof mark === "number" ? mark : undefined;
    },
    holds({ id, last, head }: ReadHead): boolean {
      const known = sql.head.get(id);
      return known?.["last"] === last && known["head"] === (head ?? null);
    },
    put(rows: readonly PastRow[], transport: string, mark: number): void {
      db.exec("BEGIN");
      for (const row of rows) put(row);
      sql.setMark.run(transport, mark);
      db.exec("COMMIT");
    },
    /** Those with a key that begins so and all words, as they are before beginnings, and then the newest. */
    find(text: string, prefixes: readonly string[], limit: number): FoundPast[] {
      const matches = matchesFor(text);
      if (matches === undefined) return [];
      const { exact, begun } = matches;
      return sql.find
        .all(begun, exact, JSON.stringify(prefixes), limit)
        .map(({ last, head, shown }): FoundPast => {
          const past: PastThread = JSON.parse(String(shown));
          return { ...past, last: Number(last), head: typeof head === "string" ? head : undefined };
        });
    },
  };
}
