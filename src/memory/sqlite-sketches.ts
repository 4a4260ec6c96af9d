import type { DatabaseSync } from "node:sqlite";
import type { Row } from "./index-port.ts";
import { type Asked, estimate, SCALE_BYTES, type Sketcher } from "./sketch.ts";

/** Rows of one block: a new one rewrites its block alone. */
const BLOCK = 256;
/** A block begins with its rows, a word each; then their scales, then their bits. */
const ROWS_BYTES = BLOCK * 4;
const BITS_AT = ROWS_BYTES + BLOCK * SCALE_BYTES;

/** Parts of the range in which the edge of the nearest is looked for. */
const PARTS = 4_096;

/**
 * Sketches of vectors in blocks of one space and kind. A search compares all of a space's. sqlite-vec's own table of
 * bits takes ten times as long for hundreds of neighbours, since its time grows with how many are wanted.
 */
export function createSketches(db: DatabaseSync) {
  db.exec(
    `CREATE TABLE IF NOT EXISTS sketches (block INTEGER PRIMARY KEY, space INTEGER NOT NULL, kind TEXT NOT NULL, used INTEGER NOT NULL, data BLOB NOT NULL);
     CREATE INDEX IF NOT EXISTS sketches_space ON sketches (space, kind, used)`,
  );
  const sql = statementsOf(db);
  const cache = createCache(() => Number(sql.version.get()?.["data_version"]));

  function read(block: number): Block | undefined {
    const found = sql.one.get(block);
    return found === undefined ? undefined : blockOf(found);
  }

  function made(space: number, kind: Row["kind"], { bytes }: Sketcher): Block {
    const data = new Uint8Array(BITS_AT + BLOCK * bytes);
    const { lastInsertRowid } = sql.make.run(space, kind, data);
    return { block: Number(lastInsertRowid), used: 0, data };
  }

  function write({ block, data }: Block, used: number): void {
    // Read again by the next search: this may be taken back.
    cache.forget(block);
    sql.write.run(used, data, block);
  }

  function blocksOf(space: number, kind: Row["kind"] | undefined): Block[] {
    cache.check();
    return sql.all
      .all(space, kind ?? null)
      .flatMap(({ block }) => cache.take(Number(block), read) ?? []);
  }

  return {
    clear(): void {
      cache.clear();
      sql.clear.run();
    },
    /** The block that has it now. */
    add(row: number, { space, kind, vector, centre }: Placed, sketcher: Sketcher): number {
      const open = sql.open.get(space, kind)?.["block"];
      const block =
        (open === undefined ? undefined : read(Number(open))) ?? made(space, kind, sketcher);
      viewOf(block.data).setUint32(block.used * 4, row, true);
      draw(block, block.used, sketcher, vector, centre);
      write(block, block.used + 1);
      return block.block;
    },
    remove(of: number, row: number): void {
      const block = read(of);
      if (block === undefined) return;
      if (!takeOut(block, row)) return;
      const last = block.used - 1;
      if (last > 0) return write(block, last);
      cache.forget(of);
      sql.drop.run(of);
    },
    /** Draws all of a space once more, around another centre. */
    redraw(
      space: number,
      centre: Float32Array,
      sketcher: Sketcher,
      vectorOf: (row: number) => Float32Array | undefined,
    ): void {
      for (const block of blocksOf(space, undefined)) {
        const view = viewOf(block.data);
        for (let at = 0; at < block.used; at++) {
          const vector = vectorOf(view.getUint32(at * 4, true));
          if (vector !== undefined) draw(block, at, sketcher, vector, centre);
        }
        write(block, block.used);
      }
    },
    count: (space: number, kind?: Row["kind"]): number =>
      Number(sql.count.get(space, kind ?? null)?.["n"]),
    /** All rows of a space. */
    rows: (space: number, kind: Row["kind"] | undefined): number[] =>
      blocksOf(space, kind).flatMap(({ used, data }) => {
        const view = viewOf(data);
        return Array.from({ length: used }, (_, i) => view.getUint32(i * 4, true));
      }),
    /** Rows of the space whose sketches are nearest; without a kind of every one. */
    nearest: (
      space: number,
      kind: Row["kind"] | undefined,
      asked: Asked,
      limit: number,
    ): number[] => nearestIn(blocksOf(space, kind), asked, limit),
  };
}

function statementsOf(db: DatabaseSync) {
  return {
    clear: db.prepare("DELETE FROM sketches"),
    open: db.prepare(
      `SELECT block FROM sketches WHERE space = ? AND kind = ? AND used < ${BLOCK} LIMIT 1`,
    ),
    one: db.prepare("SELECT block, used, data FROM sketches WHERE block = ?"),
    all: db.prepare(
      "SELECT block FROM sketches WHERE space = ?1 AND (?2 IS NULL OR kind = ?2) ORDER BY block",
    ),
    count: db.prepare(
      "SELECT coalesce(sum(used), 0) AS n FROM sketches WHERE space = ?1 AND (?2 IS NULL OR kind = ?2)",
    ),
    make: db.prepare("INSERT INTO sketches (space, kind, used, data) VALUES (?, ?, 0, ?)"),
    write: db.prepare("UPDATE sketches SET used = ?, data = ? WHERE block = ?"),
    drop: db.prepare("DELETE FROM sketches WHERE block = ?"),
    version: db.prepare("PRAGMA data_version"),
  };
}

function nearestIn(blocks: readonly Block[], asked: Asked, limit: number): number[] {
  const near = new Float32Array(blocks.reduce((sum, { used }) => sum + used, 0));
  let from = 0;
  for (const { used, data } of blocks) {
    const { buffer, byteOffset } = data;
    const scales = new DataView(buffer, byteOffset + ROWS_BYTES, used * SCALE_BYTES);
    const bits = new DataView(buffer, byteOffset + BITS_AT);
    estimate(asked, { bits, scales, used }, near, from);
    from += used;
  }
  return rowsAt(blocks, best(near, limit));
}

/** The rows that stand at these places of all blocks together, which are in order. */
function rowsAt(blocks: readonly Block[], places: readonly number[]): number[] {
  const rows: number[] = [];
  let [from, next] = [0, 0];
  for (const { used, data } of blocks) {
    const view = viewOf(data);
    for (let at = places[next]; at !== undefined && at < from + used; at = places[++next])
      rows.push(view.getUint32((at - from) * 4, true));
    from += used;
  }
  return rows;
}

/** The last one takes its place. False: it is not there. */
function takeOut({ used, data }: Block, row: number): boolean {
  const view = viewOf(data);
  let at = 0;
  while (at < used && view.getUint32(at * 4, true) !== row) at += 1;
  if (at === used) return false;
  const last = used - 1;
  const bytes = (data.length - BITS_AT) / BLOCK;
  for (const [begin, size] of [
    [0, 4],
    [ROWS_BYTES, SCALE_BYTES],
    [BITS_AT, bytes],
  ] as const)
    data.copyWithin(begin + at * size, begin + last * size, begin + used * size);
  return true;
}

interface Placed {
  space: number;
  kind: Row["kind"];
  vector: Float32Array;
  centre: Float32Array;
}

interface Block {
  block: number;
  used: number;
  data: Uint8Array;
}

/** Blocks as the file has them, until another process writes to it. */
function createCache(versionNow: () => number) {
  const blocks = new Map<number, Block>();
  let version: number | undefined;
  return {
    clear: () => blocks.clear(),
    forget: (block: number) => void blocks.delete(block),
    /** To be called before what is taken at once. */
    check(): void {
      const now = versionNow();
      if (now !== version) blocks.clear();
      version = now;
    },
    take(block: number, read: (block: number) => Block | undefined): Block | undefined {
      const known = blocks.get(block) ?? read(block);
      if (known !== undefined) blocks.set(block, known);
      return known;
    },
  };
}

function blockOf({ block, used, data }: Record<string, unknown>): Block {
  if (!(data instanceof Uint8Array)) throw new TypeError("a block of sketches is no blob");
  return { block: Number(block), used: Number(used), data };
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function draw(
  { data }: Block,
  at: number,
  { bytes, sketch }: Sketcher,
  vector: Float32Array,
  centre: Float32Array,
): void {
  const begin = BITS_AT + at * bytes;
  const scale = sketch(vector, centre, data.subarray(begin, begin + bytes));
  viewOf(data).setFloat32(ROWS_BYTES + at * SCALE_BYTES, scale, true);
}

/** Places of the greatest, in order. Sorting all of them would take longer than comparing them: parts of the range are counted instead. */
function best(near: Float32Array, limit: number): number[] {
  if (near.length <= limit) return Array.from(near.keys());
  let [least, most] = [Infinity, -Infinity];
  for (let i = 0; i < near.length; i++) {
    const value = near[i] ?? 0;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  const parts = (PARTS - 1) / (most - least || 1);
  const counts = new Uint32Array(PARTS);
  for (let i = 0; i < near.length; i++) {
    const part = Math.trunc(((near[i] ?? 0) - least) * parts);
    counts[part] = (counts[part] ?? 0) + 1;
  }
  let [edge, above] = [PARTS - 1, 0];
  while (above + (counts[edge] ?? 0) < limit) above += counts[edge--] ?? 0;
  let room = limit - above;
  const kept: number[] = [];
  for (let i = 0; i < near.length; i++) {
    const part = Math.trunc(((near[i] ?? 0) - least) * parts);
    if (part > edge || (part === edge && room-- > 0)) kept.push(i);
  }
  return kept;
}
