import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Known } from "../journal/journal.ts";
import type {
  Candidate,
  Embedded,
  MemoryIndex,
  Put,
  Row,
  Statistics,
  Wanted,
} from "./index-port.ts";
import type { Space } from "./item.ts";
import { createVectors, loadVectors, type Vectors } from "./sqlite-vectors.ts";

/** What may be asked of it in its own thread. */
export type SqliteMemory = {
  [V in keyof MemoryIndex]: (
    ...args: Parameters<MemoryIndex[V]>
  ) => Awaited<ReturnType<MemoryIndex[V]>>;
};

/** Texts with a term are counted up to here: one that more have says as little. */
const MOST_COUNTED = 10_000;

/** Raised with each change of the schema, or of what terms are made of a text: what is kept in a file is then made again. */
const VERSION = 4;

const SCHEMA = `
  CREATE TABLE mark (journal TEXT PRIMARY KEY, last INTEGER NOT NULL, head TEXT) WITHOUT ROWID;
  CREATE TABLE space (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, texts INTEGER NOT NULL, terms INTEGER NOT NULL);
  CREATE TABLE item (row INTEGER PRIMARY KEY, id TEXT NOT NULL, journal TEXT NOT NULL, seq INTEGER NOT NULL,
    at INTEGER NOT NULL, space INTEGER NOT NULL, kind TEXT NOT NULL, item TEXT NOT NULL, terms TEXT NOT NULL,
    UNIQUE (id, journal));
  CREATE INDEX item_newest ON item (space, at);
  CREATE INDEX item_journal ON item (journal);
  CREATE TABLE forgotten (id TEXT, journal TEXT, PRIMARY KEY (id, journal)) WITHOUT ROWID;`;

/** Those of every version. */
const TABLES =
  "mark space item forgotten vectors_of vector signs sketches centre text_vector".split(" ");

export interface SqliteMemoryOptions {
  /** A file of its own, which several processes may share; default: it is kept in memory. */
  readonly path?: string | undefined;
  /** The model that makes vectors; default: there are none, and texts are found by their terms alone. */
  readonly model?: string | undefined;
  /** Up to so many vectors all are compared whole; of more, those that their sketches choose. Default: 10,000. */
  readonly mostWhole?: number | undefined;
}

/** Synchronous: it is for a thread of its own. */
export function openSqliteMemory({
  path,
  model,
  mostWhole,
}: SqliteMemoryOptions = {}): SqliteMemory {
  const db = openDatabase(path, model !== undefined);
  const spaces = createSpaces(db);
  const vectors = model === undefined ? undefined : createVectors(db, model, mostWhole);
  const items = createItems(db, spaces, vectors);

  return {
    marks: () =>
      db
        .prepare("SELECT journal, last, head FROM mark")
        .all()
        .map(({ journal, last, head }) => ({
          journal: String(journal),
          known: { last: Number(last), head: typeof head === "string" ? head : null },
        })),
    put: (journal, rows, known) =>
      inTransaction(db, () => {
        for (const row of rows) items.put(row);
        vectors?.settle();
        setMark(db, journal, known);
      }),
    drop: (journal) =>
      inTransaction(db, () => {
        items.drop(journal);
        db.prepare("DELETE FROM mark WHERE journal = ?").run(journal);
      }),
    spaces: () => spaces.names(),
    find: (id, seen) => items.find(id, spaces.numbers(seen)),
    newest: (seen, wanted) => items.newest(spaces.numbers(seen), wanted),
    statistics: (terms, seen) => statisticsOf(spaces, terms, spaces.numbers(seen)),
    matching: (terms, seen, wanted) =>
      spaces.numbers(seen).flatMap((number) => items.matching(number, terms, wanted)),
    nearest: (vector, seen, wanted) => items.nearest(spaces.numbers(seen), vector, wanted),
    unembedded: (limit) => (vectors === undefined ? [] : items.unembedded(limit)),
    embed: (made) =>
      inTransaction(db, () => {
        made.forEach(items.embed);
        vectors?.settle();
      }),
    textVectors: (names) => vectors?.ofTexts(names) ?? new Map(),
    keepTextVectors: (made) => inTransaction(db, () => vectors?.keepOfTexts(made)),
    close: () => db.close(),
  };
}

/** One that another version made, or that cannot be read, is made again. */
function openDatabase(path = ":memory:", hasVectors: boolean): DatabaseSync {
  if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true });
  const db = new DatabaseSync(path, { allowExtension: true, timeout: BUSY_MS });
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA mmap_size = ${MAPPED}`);
  if (hasVectors) loadVectors(db);
  inTransaction(db, () => {
    const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
    if (version === VERSION) return;
    const names = db.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT NULL",
    );
    const virtual = names.all().map(({ name }) => String(name));
    for (const name of virtual.filter((each) => /^(?:words_\d+|rough)$/.test(each)))
      db.exec(`DROP TABLE ${name}`);
    for (const name of TABLES) db.exec(`DROP TABLE IF EXISTS ${name}`);
    db.exec(`${SCHEMA}; PRAGMA user_version = ${VERSION}`);
  });
  return db;
}

/** Bytes of a file that are read without a copy: sketches of 100 000 vectors are some MB. */
const MAPPED = 256 * 1024 * 1024;

/** Another process may be writing. */
const BUSY_MS = 5_000;

function inTransaction(db: DatabaseSync, work: () => void): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    work();
    db.exec("COMMIT");
  } catch (error) {
    db.exec("ROLLBACK");
    throw error;
  }
}

function setMark(db: DatabaseSync, journal: string, { last, head }: Known): void {
  db.prepare("INSERT OR REPLACE INTO mark (journal, last, head) VALUES (?, ?, ?)").run(
    journal,
    last,
    head ?? null,
  );
}

/** Each space has an index of its own: else the terms of one would show in what is found in another. */
function createSpaces(db: DatabaseSync) {
  const sql = {
    all: db.prepare("SELECT number, name FROM space WHERE texts > 0 ORDER BY name"),
    one: db.prepare("SELECT number FROM space WHERE name = ?"),
    add: db.prepare("INSERT INTO space (name, texts, terms) VALUES (?, 0, 0)"),
    count: db.prepare("UPDATE space SET texts = texts + ?, terms = terms + ? WHERE number = ?"),
    size: db.prepare("SELECT texts, terms FROM space WHERE number = ?"),
  };
  const numberOf = (name: string) => {
    const number = sql.one.get(name)?.["number"];
    return number === undefined ? undefined : Number(number);
  };
  return {
    names: () => sql.all.all().map(({ name }) => String(name)),
    numbers: (seen: readonly Space[]): number[] => seen.flatMap((name) => numberOf(name) ?? []),
    /** Makes it where it is new. */
    take(name: Space): number {
      const known = numberOf(name);
      if (known !== undefined) return known;
      const number = Number(sql.add.run(name).lastInsertRowid);
      db.exec(
        `CREATE VIRTUAL TABLE words_${number} USING fts5 (terms, content = '', contentless_delete = 1)`,
      );
      return number;
    },
    noteSize: (number: number, texts: number, terms: number) =>
      void sql.count.run(texts, terms, number),
    sizeOf(number: number): { texts: number; terms: number } {
      const { texts = 0, terms = 0 } = sql.size.get(number) ?? {};
      return { texts: Number(texts), terms: Number(terms) };
    },
    having(number: number, term: string): number {
      const found = `SELECT 1 FROM words_${number} WHERE words_${number} MATCH ? LIMIT ${MOST_COUNTED}`;
      return Number(db.prepare(`SELECT count(*) AS n FROM (${found})`).get(matchOf([term]))?.["n"]);
    },
  };
}

type Spaces = ReturnType<typeof createSpaces>;

function matchOf(terms: readonly string[]): string {
  return terms.map((term) => `"${term.replaceAll('"', "")}"`).join(" OR ");
}

function statisticsOf(
  spaces: Spaces,
  asked: readonly string[],
  numbers: readonly number[],
): Statistics {
  const having = asked.map(() => 0);
  let [texts, terms] = [0, 0];
  for (const number of numbers) {
    const size = spaces.sizeOf(number);
    texts += size.texts;
    terms += size.terms;
    for (const [at, term] of asked.entries())
      having[at] = (having[at] ?? 0) + spaces.having(number, term);
  }
  return { texts, terms, having };
}

const UNEMBEDDED =
  "SELECT id, journal, seq, item FROM item WHERE row NOT IN (SELECT row FROM vector) LIMIT ?";
const FIELDS = "item.id, item.journal, item.at, space.name AS space, item.item, item.terms";
const JOINED = "item JOIN space ON space.number = item.space";

function itemStatements(db: DatabaseSync) {
  return {
    known: db.prepare("SELECT row, seq, space, kind, terms FROM item WHERE id = ? AND journal = ?"),
    isForgotten: db.prepare("SELECT 1 FROM forgotten WHERE id = ? AND journal = ?"),
    forget: db.prepare("INSERT OR IGNORE INTO forgotten (id, journal) VALUES (?, ?)"),
    remove: db.prepare("DELETE FROM item WHERE row = ?"),
    add: db.prepare(
      "INSERT INTO item (id, journal, seq, at, space, kind, item, terms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    of: db.prepare("SELECT row, space, terms FROM item WHERE journal = ?"),
    undo: db.prepare("DELETE FROM forgotten WHERE journal = ?"),
    find: db.prepare(
      `SELECT ${FIELDS} FROM ${JOINED} WHERE item.id = ? AND item.space IN (SELECT value FROM json_each(?))`,
    ),
    byRows: db.prepare(
      `SELECT item.row, ${FIELDS} FROM json_each(?1) AS found CROSS JOIN ${JOINED} WHERE item.row = found.value
       AND item.space IN (SELECT value FROM json_each(?2)) AND (?3 IS NULL OR item.kind = ?3)`,
    ),
    newest: db.prepare(
      `SELECT ${FIELDS} FROM ${JOINED} WHERE item.space IN (SELECT value FROM json_each(?)) AND (?2 IS NULL OR item.kind = ?2)
       ORDER BY item.at DESC, item.id, item.journal LIMIT ?3`,
    ),
  };
}

function createItems(db: DatabaseSync, spaces: Spaces, vectors: Vectors | undefined) {
  const sql = itemStatements(db);

  function remove({ row, space, terms }: Record<string, unknown>): void {
    sql.remove.run(Number(row));
    db.prepare(`DELETE FROM words_${Number(space)} WHERE rowid = ?`).run(Number(row));
    vectors?.remove(Number(row));
    spaces.noteSize(Number(space), -1, -lengthOf(String(terms)));
  }

  function add({ id, journal, seq, at, space, kind, item, terms, vector }: Row): void {
    const number = spaces.take(space);
    const { lastInsertRowid: row } = sql.add.run(id, journal, seq, at, number, kind, item, terms);
    db.prepare(`INSERT INTO words_${number} (rowid, terms) VALUES (?, ?)`).run(row, terms);
    spaces.noteSize(number, 1, lengthOf(terms));
    if (vector !== undefined) vectors?.add(Number(row), number, kind, vector);
  }

  return {
    put(row: Put): void {
      const { id, journal } = row;
      const before = sql.known.get(id, journal);
      if ("forgotten" in row) {
        sql.forget.run(id, journal);
        if (before !== undefined) remove(before);
        return;
      }
      const isOlder = before !== undefined && Number(before["seq"]) >= row.seq;
      if (isOlder || sql.isForgotten.get(id, journal) !== undefined) return;
      if (before !== undefined) remove(before);
      add(row);
    },
    drop(journal: string): void {
      for (const each of sql.of.all(journal)) remove(each);
      sql.undo.run(journal);
    },
    embed({ id, journal, seq, vector }: Embedded): void {
      const known = sql.known.get(id, journal);
      if (known === undefined || Number(known["seq"]) !== seq) return;
      vectors?.add(Number(known["row"]), Number(known["space"]), kindOf(known), vector);
    },
    unembedded: (limit: number) =>
      db
        .prepare(UNEMBEDDED)
        .all(limit)
        .map(({ id, journal, seq, item }) => ({
          id: String(id),
          journal: String(journal),
          seq: Number(seq),
          item: String(item),
        })),
    nearest(numbers: readonly number[], vector: Float32Array, wanted: Wanted): Candidate[] {
      const found = vectors?.nearest(numbers, vector, wanted) ?? [];
      const rows = JSON.stringify(found.map(({ row }) => row));
      const items = sql.byRows.all(rows, JSON.stringify(numbers), wanted.kind ?? null);
      const byRow = new Map(items.map((item) => [Number(item["row"]), item]));
      return found.flatMap(({ row, near }) => {
        const item = byRow.get(row);
        return item === undefined ? [] : [{ ...candidateOf(item), near }];
      });
    },
    find: (id: string, numbers: readonly number[]) =>
      sql.find.all(id, JSON.stringify(numbers)).map(candidateOf),
    newest: (numbers: readonly number[], { kind, limit }: Wanted) =>
      sql.newest.all(JSON.stringify(numbers), kind ?? null, limit).map(candidateOf),
    matching(number: number, terms: readonly string[], { kind, limit }: Wanted): Candidate[] {
      if (terms.length === 0) return [];
      const order = "score, item.at DESC, item.id, item.journal";
      // Thousands are put in order, so without the texts, which only the best are read for.
      const best = `SELECT item.row, bm25(words_${number}) AS score FROM words_${number} CROSS JOIN item ON item.row = words_${number}.rowid
        WHERE words_${number} MATCH ?1 AND (?2 IS NULL OR item.kind = ?2) ORDER BY ${order} LIMIT ?3`;
      const found = `SELECT ${FIELDS} FROM (${best}) AS best CROSS JOIN ${JOINED} WHERE item.row = best.row ORDER BY ${order}`;
      return db
        .prepare(found)
        .all(matchOf(terms), kind ?? null, limit)
        .map(candidateOf);
    },
  };
}

function kindOf({ kind }: Record<string, unknown>): Row["kind"] {
  return kind === "note" || kind === "incident" ? kind : "task";
}

function lengthOf(terms: string): number {
  return terms === "" ? 0 : terms.split(" ").length;
}

function candidateOf(row: Record<string, unknown>): Candidate {
  return {
    id: String(row["id"]),
    journal: String(row["journal"]),
    at: Number(row["at"]),
    space: String(row["space"]),
    item: String(row["item"]),
    terms: String(row["terms"]),
  };
}
