import type { DatabaseSync } from "node:sqlite";
import { getLoadablePath } from "sqlite-vec";
import type { Wanted } from "./index-port.ts";

/** So many are first found by the signs of their numbers, a bit each, and then compared whole. */
const ROUGHLY = 256;

/**
 * Vectors of items, by row, and which are near another one. Each is kept whole and as bits: bits of 100 000 are compared in
 * milliseconds, and decide only which ones are looked at.
 */
export function createVectors(db: DatabaseSync, model: string) {
  db.loadExtension(getLoadablePath());
  db.enableLoadExtension(false);
  db.exec(
    "CREATE TABLE IF NOT EXISTS vectors_of (model TEXT NOT NULL, dimensions INTEGER NOT NULL); CREATE TABLE IF NOT EXISTS vector (row INTEGER PRIMARY KEY, value BLOB NOT NULL)",
  );
  const known = db.prepare("SELECT model, dimensions FROM vectors_of").get();
  let dimensions = known?.["model"] === model ? Number(known["dimensions"]) : undefined;
  // What another model made says nothing here.
  if (dimensions === undefined) forgetAll();

  function forgetAll(): void {
    db.exec("DELETE FROM vectors_of; DELETE FROM vector; DROP TABLE IF EXISTS rough");
    dimensions = undefined;
  }

  function beginWith(length: number): void {
    if (dimensions === length) return;
    forgetAll();
    dimensions = length;
    db.prepare("INSERT INTO vectors_of (model, dimensions) VALUES (?, ?)").run(model, length);
    db.exec(
      `CREATE VIRTUAL TABLE rough USING vec0 (space INTEGER PARTITION KEY, signs BIT[${bitsFor(length)}])`,
    );
  }

  return {
    add(row: number, space: number, vector: Float32Array): void {
      beginWith(vector.length);
      db.prepare("INSERT OR REPLACE INTO vector (row, value) VALUES (?, ?)").run(
        row,
        bytesOf(vector),
      );
      db.prepare("DELETE FROM rough WHERE rowid = ?").run(BigInt(row));
      db.prepare(
        "INSERT INTO rough (rowid, space, signs) VALUES (?, ?, vec_quantize_binary(?))",
      ).run(BigInt(row), BigInt(space), bytesOf(padded(vector)));
    },
    remove(row: number): void {
      db.prepare("DELETE FROM vector WHERE row = ?").run(row);
      if (dimensions !== undefined)
        db.prepare("DELETE FROM rough WHERE rowid = ?").run(BigInt(row));
    },
    /** Rows of the space, the nearest first, with the cosine. */
    nearest(
      space: number,
      vector: Float32Array,
      { kind, limit }: Wanted,
    ): { row: number; near: number }[] {
      if (dimensions !== vector.length) return [];
      const roughly = db
        .prepare(
          "SELECT rowid FROM rough WHERE signs MATCH vec_quantize_binary(?) AND space = ? AND k = ?",
        )
        .all(bytesOf(padded(vector)), BigInt(space), ROUGHLY)
        .map(({ rowid }) => Number(rowid));
      return db
        .prepare(
          `SELECT vector.row, 1 - vec_distance_cosine(value, ?1) AS near FROM vector JOIN item USING (row)
           WHERE vector.row IN (SELECT value FROM json_each(?2)) AND (?3 IS NULL OR kind = ?3) ORDER BY near DESC LIMIT ?4`,
        )
        .all(bytesOf(vector), JSON.stringify(roughly), kind ?? null, limit)
        .map(({ row, near }) => ({ row: Number(row), near: Number(near) }));
    },
  };
}

export type Vectors = ReturnType<typeof createVectors>;

function bitsFor(length: number): number {
  return Math.ceil(length / 8) * 8;
}

/** Bits come by eights. */
function padded(vector: Float32Array): Float32Array {
  const length = bitsFor(vector.length);
  if (length === vector.length) return vector;
  const longer = new Float32Array(length);
  longer.set(vector);
  return longer;
}

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}
