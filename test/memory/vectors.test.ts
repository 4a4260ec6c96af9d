import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { getLoadablePath } from "sqlite-vec";
import { expect, onTestFinished, test } from "vitest";
import type { Row } from "../../src/memory/index-port.ts";
import { row } from "../contracts/memory-index.ts";
import { openTestIndex } from "../fakes/memory.ts";

const SPACE = "public:slack:T1";
const JOURNAL = "memory:slack:T1:2026-11";

/** Made vectors around so many subjects, in all directions; the same each time. */
function madeVectors(count: number, dimensions: number, subjectCount = 100): Float32Array[] {
  let state = 42;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  const normal = () => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next());
  const subjects = Array.from({ length: subjectCount }, () =>
    Float32Array.from({ length: dimensions }, normal),
  );
  return Array.from({ length: count }, (_, i) => {
    const subject = subjects[i % subjects.length] ?? new Float32Array(dimensions);
    return subject.map((value) => value + normal());
  });
}

function product(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (const [i, value] of a.entries()) sum += value * (b[i] ?? 0);
  return sum;
}

const lengthOf = (vector: Float32Array) => Math.sqrt(product(vector, vector));

const rowsOf = (vectors: readonly Float32Array[], changes: Partial<Row> = {}) =>
  vectors.map((vector, i) => row(`m-${i}`, "x", { seq: i + 1, vector, ...changes }));

/** The part of the true ten nearest of ten questions that is found among 10,000 vectors of two places. */
async function partFound(subjects: number, mostWhole?: number): Promise<number> {
  const index = openTestIndex({ model: "test/many", mostWhole });
  const vectors = madeVectors(10_000, 64, subjects);
  await index.put(JOURNAL, rowsOf(vectors.slice(0, 9_000)), { last: 9_000, head: null });
  const other = { space: "private:slack:T1:C9", journal: `${JOURNAL}-2` };
  const rest = rowsOf(vectors.slice(9_000), other);
  await index.put(other.journal, rest, { last: 1_000, head: null });
  const asked = vectors
    .slice(0, 10)
    .map((vector, i) => vector.map((value, at) => value + (((i + at) % 7) - 3) / 5));
  const lengths = vectors.map(lengthOf);
  let hits = 0;
  for (const vector of asked) {
    const whole = lengthOf(vector);
    const exact = vectors
      .map((each, i) => product(vector, each) / whole / (lengths[i] ?? 1))
      .toSorted((a, b) => b - a);
    const found = await index.nearest(vector, [SPACE, other.space], { limit: 10 });
    hits += found.filter(({ near = 0 }) => near >= (exact[9] ?? 1) - 1e-5).length;
  }
  return hits / asked.length / 10;
}

test("up to the limit exactly the nearest are found, whether vectors are around one subject or many", async () => {
  expect(await partFound(1)).toBe(1);
  expect(await partFound(100, 10_000)).toBe(1);
});

// Seen when this was written: all of them. Signs that are not turned find 0.93 around one subject.
test.each([
  [1, 0.98],
  [100, 0.98],
])(
  "above the limit, among vectors around %i subjects, at least %d of the nearest are found",
  async (subjects, least) => {
    expect(await partFound(subjects, 9_999)).toBeGreaterThanOrEqual(least);
  },
);

test("a note is found among many records of threads that are nearer, and one private record among many public ones", async () => {
  const index = openTestIndex({ model: "test/many" });
  const near = madeVectors(1, 64)[0] ?? new Float32Array(64);
  const far = near.map((value, i) => (i % 3 === 0 ? -value : value));
  const tasks = Array.from({ length: 1_500 }, () => near);
  await index.put(JOURNAL, rowsOf(tasks, { kind: "task" }), { last: 1_500, head: null });
  const others = [
    row("note", "x", { vector: far }),
    row("secret", "x", { vector: far, space: "private:slack:T1:C9" }),
  ];
  await index.put(JOURNAL, others, { last: 1_502, head: null });
  const ids = async (space: string, kind?: Row["kind"]) =>
    (await index.nearest(near, [space], { limit: 3, kind })).map(({ id }) => id);
  expect(await ids(SPACE, "note")).toEqual(["note"]);
  expect(await ids("private:slack:T1:C9")).toEqual(["secret"]);
});

test("vectors that are taken away, changed and added among blocks are found as they are", async () => {
  const index = openTestIndex({ model: "test/many" });
  const vectors = madeVectors(600, 40);
  await index.put(JOURNAL, rowsOf(vectors), { last: 600, head: null });
  const gone = vectors.flatMap((_, i) =>
    i % 3 === 0 ? [{ id: `m-${i}`, journal: JOURNAL, forgotten: true } as const] : [],
  );
  await index.put(JOURNAL, gone, { last: 601, head: null });
  const moved = vectors.toReversed();
  await index.put(JOURNAL, rowsOf(moved, { seq: 1_000 }), { last: 602, head: null });
  for (const [i, vector] of moved.entries()) {
    const [found] = await index.nearest(vector, [SPACE], { limit: 1 });
    if (i % 3 === 0) expect(found?.id).not.toBe(`m-${i}`);
    else expect(found?.id).toBe(`m-${i}`);
  }
});

test("a file of the version before, whose bits were in a table of sqlite-vec's, is made again", async () => {
  const folder = await mkdtemp(join(tmpdir(), "memory-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "index.db");
  const old = new DatabaseSync(path, { allowExtension: true });
  old.loadExtension(getLoadablePath());
  old.exec(
    "CREATE TABLE vector (row INTEGER PRIMARY KEY, value BLOB); CREATE VIRTUAL TABLE rough USING vec0 (space INTEGER PARTITION KEY, signs BIT[8]); PRAGMA user_version = 1",
  );
  old.close();
  const index = openTestIndex({ path, model: "test/a" });
  expect(await index.marks()).toEqual([]);
  const vector = Float32Array.of(1, 0, 0);
  await index.put(JOURNAL, [row("a", "x", { vector })], { last: 1, head: null });
  expect(await index.nearest(vector, [SPACE], { limit: 1 })).toHaveLength(1);
});
