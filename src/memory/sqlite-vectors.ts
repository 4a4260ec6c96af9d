import type { DatabaseSync } from "node:sqlite";
import { getLoadablePath } from "sqlite-vec";
import type { Row, Wanted } from "./index-port.ts";
import { createSigns } from "./sqlite-signs.ts";

/**
 * Up to so many vectors in the spaces that are looked through, all are compared whole. Measured on two cores that others used too
 * (2026-11-28, p95): a thousand take 1.5 ms at 256 numbers and 4.8 ms at 1,536, so all of them 0.1 s of the 3 s that a run waits.
 */
const MOST_WHOLE = 20_000;
/** Of more than that so many of each space are found by their signs, and then compared whole. */
const ROUGHLY = 2_048;

/** To be called before a file is looked into: its tables may be the extension's. */
export function loadVectors(db: DatabaseSync): void {
  db.loadExtension(getLoadablePath());
  db.enableLoadExtension(false);
}

/**
 * Vectors of items, by row, and which are near another one: exactly up to `mostWhole`. Each is kept whole and as the signs of its
 * numbers: those of 100 000 are compared in milliseconds, and decide only which ones are compared whole.
 */
export function createVectors(db: DatabaseSync, model: string, mostWhole = MOST_WHOLE) {
  db.exec(
    "CREATE TABLE IF NOT EXISTS vectors_of (model TEXT NOT NULL, dimensions INTEGER NOT NULL); CREATE TABLE IF NOT EXISTS vector (row INTEGER PRIMARY KEY, block INTEGER NOT NULL, value BLOB NOT NULL)",
  );
  const signs = createSigns(db);
  const sql = {
    made: db.prepare("SELECT model, dimensions FROM vectors_of"),
    begin: db.prepare("INSERT INTO vectors_of (model, dimensions) VALUES (?, ?)"),
    add: db.prepare("INSERT INTO vector (row, block, value) VALUES (?, ?, ?)"),
    remove: db.prepare("DELETE FROM vector WHERE row = ? RETURNING block"),
    nearest: db.prepare(
      `SELECT vector.row, 1 - vec_distance_cosine(vector.value, ?1) AS near FROM json_each(?2) AS found JOIN vector ON vector.row = found.value
       ORDER BY near DESC LIMIT ?3`,
    ),
  };
  // What another model made says nothing here.
  if (sql.made.get()?.["model"] !== model) forgetAll();

  function forgetAll(): void {
    db.exec("DELETE FROM vectors_of; DELETE FROM vector");
    signs.clear();
  }

  /** Another process may have begun with them meanwhile. */
  function dimensions(): number | undefined {
    const known = sql.made.get()?.["dimensions"];
    return known === undefined ? undefined : Number(known);
  }

  function remove(row: number): void {
    const block = sql.remove.get(row)?.["block"];
    if (block !== undefined) signs.remove(Number(block), row);
  }

  return {
    add(row: number, space: number, kind: Row["kind"], vector: Float32Array): void {
      if (dimensions() !== vector.length) {
        forgetAll();
        sql.begin.run(model, vector.length);
      }
      remove(row);
      sql.add.run(row, signs.add(row, space, kind, vector), bytesOf(vector));
    },
    remove,
    /** Rows of the spaces, the nearest first, with the cosine. */
    nearest(
      spaces: readonly number[],
      vector: Float32Array,
      { kind, limit }: Wanted,
    ): { row: number; near: number }[] {
      if (dimensions() !== vector.length) return [];
      const count = spaces.reduce((sum, space) => sum + signs.count(space, kind), 0);
      const most = count <= mostWhole ? count : Math.max(limit, ROUGHLY);
      const rows = spaces.flatMap((space) => signs.nearest(space, kind, vector, most));
      return sql.nearest
        .all(bytesOf(vector), JSON.stringify(rows), limit)
        .map(({ row, near }) => ({ row: Number(row), near: Number(near) }));
    },
  };
}

export type Vectors = ReturnType<typeof createVectors>;

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}
