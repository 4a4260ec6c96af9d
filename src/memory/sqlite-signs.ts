import type { DatabaseSync } from "node:sqlite";
import type { Row } from "./index-port.ts";

/** Rows of one block: a new one rewrites its block alone. */
const BLOCK = 256;
/** A block begins with its rows, a word each. */
const ROWS_BYTES = BLOCK * 4;

/**
 * The signs of vectors' numbers, a bit each, in blocks of one space and kind. A search compares all of a space's. sqlite-vec's own table of
 * bits takes ten times as long for hundreds of neighbours, since its time grows with how many are wanted.
 */
export function createSigns(db: DatabaseSync) {
  db.exec(
    `CREATE TABLE IF NOT EXISTS signs (block INTEGER PRIMARY KEY, space INTEGER NOT NULL, kind TEXT NOT NULL, used INTEGER NOT NULL, data BLOB NOT NULL);
     CREATE INDEX IF NOT EXISTS signs_space ON signs (space, kind, used)`,
  );
  const sql = {
    clear: db.prepare("DELETE FROM signs"),
    open: db.prepare(
      `SELECT block, used, data FROM signs WHERE space = ? AND kind = ? AND used < ${BLOCK} LIMIT 1`,
    ),
    one: db.prepare("SELECT block, used, data FROM signs WHERE block = ?"),
    all: db.prepare(
      "SELECT block, used, data FROM signs WHERE space = ?1 AND (?2 IS NULL OR kind = ?2)",
    ),
    count: db.prepare(
      "SELECT coalesce(sum(used), 0) AS n FROM signs WHERE space = ?1 AND (?2 IS NULL OR kind = ?2)",
    ),
    make: db.prepare("INSERT INTO signs (space, kind, used, data) VALUES (?, ?, 0, ?)"),
    write: db.prepare("UPDATE signs SET used = ?, data = ? WHERE block = ?"),
    drop: db.prepare("DELETE FROM signs WHERE block = ?"),
  };

  function made(space: number, kind: Row["kind"], bytes: number): Block {
    const data = new Uint8Array(ROWS_BYTES + BLOCK * bytes);
    const { lastInsertRowid } = sql.make.run(space, kind, data);
    return { block: Number(lastInsertRowid), used: 0, data };
  }

  return {
    clear: () => void sql.clear.run(),
    /** The block that has it now. */
    add(row: number, space: number, kind: Row["kind"], vector: Float32Array): number {
      const signs = signsOf(vector);
      const open = sql.open.get(space, kind);
      const { block, used, data } =
        open === undefined ? made(space, kind, signs.length) : blockOf(open);
      viewOf(data).setUint32(used * 4, row, true);
      data.set(signs, ROWS_BYTES + used * signs.length);
      sql.write.run(used + 1, data, block);
      return block;
    },
    remove(of: number, row: number): void {
      const found = sql.one.get(of);
      if (found === undefined) return;
      const { block, used, data } = blockOf(found);
      const view = viewOf(data);
      let at = 0;
      while (at < used && view.getUint32(at * 4, true) !== row) at += 1;
      if (at === used) return;
      const last = used - 1;
      const bytes = (data.length - ROWS_BYTES) / BLOCK;
      view.setUint32(at * 4, view.getUint32(last * 4, true), true);
      const from = ROWS_BYTES + last * bytes;
      data.copyWithin(ROWS_BYTES + at * bytes, from, from + bytes);
      if (last === 0) sql.drop.run(block);
      else sql.write.run(last, data, block);
    },
    count: (space: number, kind: Row["kind"] | undefined): number =>
      Number(sql.count.get(space, kind ?? null)?.["n"]),
    /** Rows of the space whose signs differ least from the vector's; without a kind of every one. As many as there are: all of them. */
    nearest(
      space: number,
      kind: Row["kind"] | undefined,
      vector: Float32Array,
      limit: number,
    ): number[] {
      const asked = viewOf(signsOf(vector));
      const blocks = sql.all.all(space, kind ?? null).map(blockOf);
      const count = blocks.reduce((sum, { used }) => sum + used, 0);
      const found: Found = { rows: new Uint32Array(count), bits: new Uint16Array(count), end: 0 };
      for (const block of blocks) compare(asked, block, found);
      return closest(found, limit);
    },
  };
}

interface Block {
  block: number;
  used: number;
  data: Uint8Array;
}

/** In how many bits each row differs. */
interface Found {
  rows: Uint32Array;
  bits: Uint16Array;
  end: number;
}

function blockOf({ block, used, data }: Record<string, unknown>): Block {
  if (!(data instanceof Uint8Array)) throw new TypeError("a block of signs is no blob");
  return { block: Number(block), used: Number(used), data };
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Whole words. */
function signsOf(vector: Float32Array): Uint8Array {
  const signs = new Uint8Array(Math.ceil(vector.length / 32) * 4);
  for (const [at, value] of vector.entries())
    if (value > 0) signs[at >> 3] = (signs[at >> 3] ?? 0) | (1 << (at & 7));
  return signs;
}

/** Through views: elements of an array that might not be there cost much more. */
function compare(asked: DataView, { used, data }: Block, found: Found): void {
  const view = viewOf(data);
  const bytes = asked.byteLength;
  for (let i = 0, at = ROWS_BYTES; i < used; i++, at += bytes) {
    let differing = 0;
    for (let byte = 0; byte < bytes; byte += 4) {
      // Bits of a word, counted in twos, fours and bytes at once.
      let word = asked.getUint32(byte, true) ^ view.getUint32(at + byte, true);
      word -= (word >>> 1) & 0x55555555;
      word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
      differing += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
    }
    found.rows[found.end] = view.getUint32(i * 4, true);
    found.bits[found.end] = differing;
    found.end += 1;
  }
}

function closest({ rows, bits }: Found, limit: number): number[] {
  if (rows.length <= limit) return [...rows];
  const having = new Map<number, number>();
  for (const differing of bits) having.set(differing, (having.get(differing) ?? 0) + 1);
  let [edge, below] = [0, 0];
  while (below + (having.get(edge) ?? 0) < limit) below += having.get(edge++) ?? 0;
  let room = limit - below;
  const kept: number[] = [];
  for (const [i, differing] of bits.entries())
    if (differing < edge || (differing === edge && room-- > 0)) kept.push(rows[i] ?? 0);
  return kept;
}
