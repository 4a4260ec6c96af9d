import type { DatabaseSync } from "node:sqlite";
import { getLoadablePath } from "sqlite-vec";
import { MOST_TEXTS, type Row, type Wanted } from "./index-port.ts";
import { centreOf, createSketcher, type Sketcher } from "./sketch.ts";
import { createSketches } from "./sqlite-sketches.ts";

/**
 * Up to so many vectors in the spaces that are looked through, all are compared whole. Measured on two cores that others used too
 * (2026-11-28, p95): a thousand take 1.5 ms at 256 numbers and 4.8 ms at 1,536.
 */
const MOST_WHOLE = 10_000;
/** Of more than that so many of each space are found by their sketches, and then compared whole. */
const ROUGHLY = 2_048;
/** A space's centre is looked for again when it has so many times as many vectors. */
const GROWTH = 4;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS vectors_of (model TEXT NOT NULL, dimensions INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS vector (row INTEGER PRIMARY KEY, block INTEGER NOT NULL, value BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS centre (space INTEGER PRIMARY KEY, vectors INTEGER NOT NULL, value BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS text_vector (at INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, value BLOB NOT NULL)`;

/** To be called before a file is looked into: its tables may be the extension's. */
export function loadVectors(db: DatabaseSync): void {
  db.loadExtension(getLoadablePath());
  db.enableLoadExtension(false);
}

/**
 * Vectors of items, by row, and which are near another one: exactly up to `mostWhole`. Each is kept whole and as a sketch: those of
 * 100 000 are compared in milliseconds, and decide only which ones are compared whole.
 */
export function createVectors(db: DatabaseSync, model: string, mostWhole = MOST_WHOLE) {
  db.exec(SCHEMA);
  const sketches = createSketches(db);
  const sql = statementsOf(db);
  const sketcherOf = createSketchers();
  const grown = new Set<number>();
  // What another model made says nothing here.
  if (sql.made.get()?.["model"] !== model) forgetAll();

  function forgetAll(): void {
    db.exec(
      "DELETE FROM vectors_of; DELETE FROM vector; DELETE FROM centre; DELETE FROM text_vector",
    );
    sketches.clear();
  }

  /** Another process may have begun with them meanwhile. */
  function dimensions(): number | undefined {
    const known = sql.made.get()?.["dimensions"];
    return known === undefined ? undefined : Number(known);
  }

  /** Each space has its own: nothing of one may change what is found in another. */
  function centreIn(space: number, { length }: Float32Array): Float32Array {
    const known = sql.centre.get(space)?.["value"];
    return vectorOf(known) ?? new Float32Array(length);
  }

  function vectorAt(row: number): Float32Array | undefined {
    return vectorOf(sql.value.get(row)?.["value"]);
  }

  function remove(row: number): void {
    const block = sql.remove.get(row)?.["block"];
    if (block !== undefined) sketches.remove(Number(block), row);
  }

  function beginWith({ length }: Float32Array): void {
    if (dimensions() === length) return;
    forgetAll();
    sql.begin.run(model, length);
  }

  return {
    add(row: number, space: number, kind: Row["kind"], vector: Float32Array): void {
      beginWith(vector);
      remove(row);
      const placed = { space, kind, vector, centre: centreIn(space, vector) };
      sql.add.run(row, sketches.add(row, placed, sketcherOf(vector)), bytesOf(vector));
      grown.add(space);
    },
    remove,
    /** To be called at the end of what adds: of spaces that have grown a lot the centre is found again. */
    settle(): void {
      const length = dimensions();
      if (length !== undefined)
        for (const space of grown) {
          const count = sketches.count(space);
          const before = Number(sql.centre.get(space)?.["vectors"] ?? 0);
          if (count <= Math.max(ROUGHLY, GROWTH * before)) continue;
          const rows = sketches.rows(space, undefined);
          const centre = centreOf(rows, vectorAt, length);
          sketches.redraw(space, centre, sketcherOf(centre), vectorAt);
          sql.setCentre.run(space, count, bytesOf(centre));
        }
      grown.clear();
    },
    ...createTextVectors(db, beginWith),
    /** Rows of the spaces, the nearest first, with the cosine. */
    nearest(
      spaces: readonly number[],
      vector: Float32Array,
      { kind, limit }: Wanted,
    ): { row: number; near: number }[] {
      if (dimensions() !== vector.length) return [];
      const count = spaces.reduce((sum, space) => sum + sketches.count(space, kind), 0);
      const most = Math.max(limit, ROUGHLY);
      const rows = spaces.flatMap((space) => {
        if (count <= mostWhole || sketches.count(space, kind) <= most)
          return sketches.rows(space, kind);
        const asked = sketcherOf(vector).asked(vector, centreIn(space, vector));
        return sketches.nearest(space, kind, asked, most);
      });
      return sql.nearest
        .all(bytesOf(vector), JSON.stringify(rows), limit)
        .map(({ row, near }) => ({ row: Number(row), near: Number(near) }));
    },
  };
}

/** The one for vectors of this length; the last is kept. */
function createSketchers(): (vector: Float32Array) => Sketcher {
  let last: (Sketcher & { of: number }) | undefined;
  return ({ length }) => {
    if (last?.of !== length) last = { ...createSketcher(length), of: length };
    return last;
  };
}

/** Vectors of texts in no journal, by name; few enough to be compared by whoever has the texts. */
function createTextVectors(db: DatabaseSync, beginWith: (vector: Float32Array) => void) {
  const sql = {
    value: db.prepare("SELECT value FROM text_vector WHERE name = ?"),
    keep: db.prepare("INSERT OR REPLACE INTO text_vector (name, value) VALUES (?, ?)"),
    forget: db.prepare("DELETE FROM text_vector WHERE at <= (SELECT max(at) FROM text_vector) - ?"),
  };
  return {
    ofTexts: (names: readonly string[]): Map<string, Float32Array> =>
      new Map(
        names.flatMap((name) => {
          const vector = vectorOf(sql.value.get(name)?.["value"]);
          return vector === undefined ? [] : [[name, vector]];
        }),
      ),
    keepOfTexts(made: readonly (readonly [string, Float32Array])[]): void {
      for (const [name, vector] of made) {
        beginWith(vector);
        sql.keep.run(name, bytesOf(vector));
      }
      sql.forget.run(MOST_TEXTS);
    },
  };
}

function statementsOf(db: DatabaseSync) {
  return {
    made: db.prepare("SELECT model, dimensions FROM vectors_of"),
    begin: db.prepare("INSERT INTO vectors_of (model, dimensions) VALUES (?, ?)"),
    add: db.prepare("INSERT INTO vector (row, block, value) VALUES (?, ?, ?)"),
    remove: db.prepare("DELETE FROM vector WHERE row = ? RETURNING block"),
    value: db.prepare("SELECT value FROM vector WHERE row = ?"),
    centre: db.prepare("SELECT vectors, value FROM centre WHERE space = ?"),
    setCentre: db.prepare("INSERT OR REPLACE INTO centre (space, vectors, value) VALUES (?, ?, ?)"),
    nearest: db.prepare(
      `SELECT vector.row, 1 - vec_distance_cosine(vector.value, ?1) AS near FROM json_each(?2) AS found JOIN vector ON vector.row = found.value
       ORDER BY near DESC LIMIT ?3`,
    ),
  };
}

export type Vectors = ReturnType<typeof createVectors>;

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** A copy: the bytes of a row need not begin where numbers may. */
function vectorOf(value: unknown): Float32Array | undefined {
  return value instanceof Uint8Array ? new Float32Array(value.slice().buffer) : undefined;
}
