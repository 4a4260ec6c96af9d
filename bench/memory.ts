import type { Floor } from "../src/memory/policy.ts";
import { search } from "../src/memory/search.ts";
import { startSqliteMemory } from "../src/memory/sqlite-thread.ts";
import { termsIn } from "../src/core/terms.ts";
import {
  QUERIES,
  recordTexts,
  type Retrieval,
  retrieval,
  rowOf,
  SECOND_QUERIES,
  trigramVector,
  VECTOR_MODEL,
} from "../test/memory/retrieval.ts";
import { type Figure, median } from "./journal.ts";
import { keepFigures } from "./memory-keep.ts";
import { rerankFigures } from "./memory-rerank.ts";

const RECORDS = 100_000;
const VOCABULARY = 20_000;
const BATCH = 2_000;
const JOURNAL = "memory:slack:T1:2026-11";
const SPACE = "public:slack:T1";

/** How well the same in other words is found, and how long it takes among many records. */
export async function memoryFigures(): Promise<Figure[]> {
  return [
    ...(await timed(false)),
    ...(await timed(true)),
    ...(await retrieved(false)),
    ...(await retrieved(true)),
    ...(await keepFigures()),
  ];
}

function figures(how: string, found: Retrieval): Figure[] {
  const { queries, recallAt5, mrr, negatives, quiet, cited, precision } = found;
  const value = (...parts: number[]) => parts.map((part) => part.toFixed(2)).join(", ");
  return [
    { name: `${queries} labelled queries, ${how}: recall@5, MRR`, value: value(recallAt5, mrr) },
    {
      name: `at the floor, with ${negatives} questions that no record answers, ${how}: those for which nothing is cited (aim ≥ 0.9), queries whose record is cited, precision of what is cited`,
      value: value(quiet, cited, precision),
    },
  ];
}

type Index = ReturnType<typeof startSqliteMemory>;

function opened(hasVectors: boolean): { index: Index; close(): void } {
  const ended = new AbortController();
  const model = hasVectors ? VECTOR_MODEL : undefined;
  return {
    index: startSqliteMemory(ended.signal, { path: undefined, model }),
    close: () => ended.abort(),
  };
}

async function fill(
  index: Index,
  texts: readonly (readonly [string, string])[],
  hasVectors: boolean,
) {
  for (let at = 0; at < texts.length; at += BATCH) {
    const rows = texts.slice(at, at + BATCH).map(([id, text], i) => ({
      ...rowOf(id, text, at + i + 1, SPACE),
      ...(hasVectors && { vector: trigramVector(text) }),
    }));
    await index.put(JOURNAL, rows, { last: at + rows.length, head: null });
  }
}

async function retrieved(hasVectors: boolean): Promise<Figure[]> {
  const { index, close } = opened(hasVectors);
  const find = (text: string, floor?: Floor) => {
    const vector = hasVectors ? trigramVector(text) : undefined;
    return search(index, text, [SPACE], { ...floor, vector });
  };
  const how = hasVectors ? "words and given vectors, fused" : "by words";
  try {
    await fill(index, recordTexts(), hasVectors);
    return [
      ...figures(how, await retrieval(find)),
      ...figures(`the second set, ${how}`, await retrieval(find, SECOND_QUERIES)),
      ...(await rerankFigures(index, SPACE, { among: "25 records", hasVectors })),
    ];
  } finally {
    close();
  }
}

/**
 * The same records each time. How often a word comes follows its rank, as in what people write (Zipf's law); the words of the
 * labelled records are spread over the ranks of a vocabulary of 20 000.
 */
function manyTexts(): [string, string][] {
  let state = 42;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const known = [...new Set(recordTexts().flatMap(([, text]) => text.split(/\s+/)))];
  const words = Array.from({ length: VOCABULARY }, (_, i) => `word${i.toString(36)}`);
  // Nearer the frequent ones than chance would have it: they are words of the trade.
  for (const word of known) words[Math.floor(VOCABULARY ** (0.4 + 0.6 * next()))] = word;
  const pick = () => words[Math.floor(VOCABULARY ** next())] ?? "";
  return Array.from({ length: RECORDS }, (_, i) => [
    `m-${i}`,
    Array.from({ length: 30 }, pick).join(" "),
  ]);
}

async function timed(hasVectors: boolean): Promise<Figure[]> {
  const { index, close } = opened(hasVectors);
  try {
    await fill(index, [...recordTexts(), ...manyTexts()], hasVectors);
    const took: number[] = [];
    for (const { text } of [...QUERIES, ...QUERIES, ...QUERIES]) {
      const vector = hasVectors ? trigramVector(text) : undefined;
      const began = performance.now();
      await search(index, text, [SPACE], { vector });
      took.push(performance.now() - began);
    }
    // The first round warms the caches up.
    const warm = took.slice(QUERIES.length);
    const p95 = warm.toSorted((a, b) => a - b)[Math.floor(warm.length * 0.95)] ?? Number.NaN;
    const how = hasVectors ? "words and vectors of 256" : "words";
    const terms = median(QUERIES.map(({ text }) => termsIn(text).length));
    const value = `${median(warm).toFixed(1)} ms, p95 ${p95.toFixed(1)} ms (${terms} terms)`;
    const among = `${RECORDS.toLocaleString("en")} records`;
    return [
      { name: `search by ${how} among ${among}: median`, value },
      ...(await rerankFigures(index, SPACE, { among, hasVectors })),
    ];
  } finally {
    close();
  }
}
