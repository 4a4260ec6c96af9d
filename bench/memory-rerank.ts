import type { MemoryIndex } from "../src/memory/index-port.ts";
import { weightOf } from "../src/memory/ranking.ts";
import { search } from "../src/memory/search.ts";
import { termsIn } from "../src/core/terms.ts";
import { QUERIES, SECOND_QUERIES, trigramVector } from "../test/memory/retrieval.ts";
import type { Figure } from "./journal.ts";

/** So many of the best are put into another order (CORE 004.21). */
const RERANKED = 20;
/** Words that share fewer letters say nothing of each other. */
const ALIKE = 0.3;
/** How much the place that it had counts, and the letters. */
const [PLACES, LETTERS] = [10, 2];

/**
 * What a second ranking without a model would do to the labelled queries: for each word of a question the word of the record that
 * shares the most sequences of three letters with it, by how rare the word is, beside the place that the record had.
 * Of those that were tried it was the best among few records.
 */
export async function rerankFigures(
  index: MemoryIndex,
  space: string,
  { among, hasVectors }: { among: string; hasVectors: boolean },
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [set, queries] of [
    ["first", QUERIES],
    ["second", SECOND_QUERIES],
  ] as const) {
    let [plain, reranked, spent] = [0, 0, 0];
    for (const { of, text } of queries) {
      const vector = hasVectors ? trigramVector(text) : undefined;
      const found = await search(index, text, [space], { limit: RERANKED, vector });
      const texts = found.map(({ candidate }) => ({
        id: candidate.id,
        terms: candidate.terms.split(" "),
      }));
      const weights = await weightsOf(index, text, space);
      const before = process.cpuUsage();
      const again = texts
        .map(({ id, terms }, place) => ({
          id,
          score: PLACES / (PLACES + place) + LETTERS * lettersShared(weights, terms),
        }))
        .toSorted((a, b) => b.score - a.score);
      const { user, system } = process.cpuUsage(before);
      spent += (user + system) / 1_000;
      plain += reciprocal(texts, of);
      reranked += reciprocal(again, of);
    }
    const [mrr, other, ms] = [plain, reranked, spent].map((sum) => sum / queries.length);
    const how = hasVectors ? "words and vectors" : "words";
    figures.push({
      name: `${queries.length} queries of the ${set} set among ${among}, by ${how}: MRR as it is, with the ${RERANKED} best ranked again, CPU of that`,
      value: `${mrr?.toFixed(3)}, ${other?.toFixed(3)}, ${ms?.toFixed(2)} ms`,
    });
  }
  return figures;
}

function reciprocal(found: readonly { readonly id: string }[], of: string): number {
  const place = found.findIndex(({ id }) => id === of) + 1;
  return place >= 1 && place <= 10 ? 1 / place : 0;
}

async function weightsOf(
  index: MemoryIndex,
  text: string,
  space: string,
): Promise<ReadonlyMap<string, number>> {
  const asked = [...new Set(termsIn(text))];
  const statistics = await index.statistics(asked, [space]);
  return new Map(asked.map((term, at) => [term, weightOf(statistics, at)]));
}

function lettersShared(weights: ReadonlyMap<string, number>, terms: readonly string[]): number {
  let [shared, whole] = [0, 0];
  for (const [asked, weight] of weights) {
    const most = Math.max(0, ...terms.map((term) => alikeness(asked, term)));
    whole += weight;
    if (most >= ALIKE) shared += weight * most;
  }
  return whole === 0 ? 0 : shared / whole;
}

function alikeness(one: string, other: string): number {
  if (one === other) return 1;
  const [a, b] = [threesOf(one), threesOf(other)];
  const shared = [...a].filter((three) => b.has(three)).length;
  return shared / (a.size + b.size - shared);
}

function threesOf(word: string): Set<string> {
  const padded = ` ${word} `;
  return new Set(Array.from({ length: padded.length - 2 }, (_, at) => padded.slice(at, at + 3)));
}
