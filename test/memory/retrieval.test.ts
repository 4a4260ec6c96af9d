import { expect, test } from "vitest";
import { search } from "../../src/memory/search.ts";
import { openTestIndex } from "../fakes/memory.ts";
import {
  QUERIES,
  recordTexts,
  retrieval,
  rowOf,
  SECOND_QUERIES,
  trigramVector,
  VECTOR_MODEL,
} from "./retrieval.ts";

const SPACE = "public:slack:T1";
const KNOWN = { last: 100, head: null };

async function filled(model?: string) {
  const index = openTestIndex(model === undefined ? {} : { model });
  const rows = recordTexts().map(([id, text], seq) => ({
    ...rowOf(id, text, seq + 1, SPACE),
    ...(model !== undefined && { vector: trigramVector(text) }),
  }));
  await index.put("memory:slack:T1:2026-11", rows, KNOWN);
  return index;
}

async function measured() {
  const words = await filled();
  const lexical = await retrieval((text, floor) => search(words, text, [SPACE], floor));
  const both = await filled(VECTOR_MODEL);
  const fused = await retrieval((text, floor) =>
    search(both, text, [SPACE], { ...floor, vector: trigramVector(text) }),
  );
  return { lexical, fused };
}

test("the same trouble in other words is found among the first five", async () => {
  expect(QUERIES.length).toBeGreaterThanOrEqual(100);
  const { lexical, fused } = await measured();
  // Seen when this was written: 0.94 and 0.89 by words, 0.95 and 0.87 with these vectors.
  expect(lexical.recallAt5).toBeGreaterThanOrEqual(0.92);
  expect(lexical.mrr).toBeGreaterThanOrEqual(0.86);
  expect(fused.recallAt5).toBeGreaterThanOrEqual(0.92);
  expect(fused.mrr).toBeGreaterThanOrEqual(0.85);
});

test("so it is for a second set of questions that nothing was tuned to", async () => {
  const index = await filled(VECTOR_MODEL);
  for (const vectorOf of [() => undefined, trigramVector]) {
    const found = await retrieval(
      (text, floor) => search(index, text, [SPACE], { ...floor, vector: vectorOf(text) }),
      SECOND_QUERIES,
    );
    // Seen when this was written, once and before anything was changed: 0.96 and 0.89 in both ways.
    expect(found.recallAt5).toBeGreaterThanOrEqual(0.92);
    expect(found.mrr).toBeGreaterThanOrEqual(0.85);
  }
});

test("for nine in ten questions that no record answers nothing is cited, and most of what is cited is right", async () => {
  const { lexical, fused } = await measured();
  expect(lexical.negatives).toBeGreaterThanOrEqual(30);
  // Seen when this was written: 0.92 are quiet; cited are 0.60 by words and 0.64 with these vectors, and of all that is cited 0.83
  // and 0.80 is right. Some of the rest is about a second trouble with the same words.
  for (const { quiet, precision, cited } of [lexical, fused]) {
    expect(quiet).toBeGreaterThanOrEqual(0.9);
    expect(precision).toBeGreaterThanOrEqual(0.78);
    expect(cited).toBeGreaterThanOrEqual(0.58);
  }
});
