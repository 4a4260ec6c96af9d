import type { Candidate, MemoryIndex, Statistics, Wanted } from "./index-port.ts";
import type { Space } from "./item.ts";
import type { Floor } from "./policy.ts";
import { byNearness, byTerms, fuse, isAlike, type Ranked, weightOf } from "./ranking.ts";
import { termsIn } from "../core/terms.ts";

/** So many terms of a question are looked for, those that say the most first. */
const MAX_ASKED = 24;
/** Candidates of each ranking: of these the best are chosen. */
const CANDIDATES = 64;
/** Texts that all have one of the terms: looking through more than these costs more than it tells. */
const MOST_MATCHES = 3_000;

const LIMIT = 10;

interface Options extends Partial<Wanted>, Partial<Floor> {
  /** What a model makes of the question; without it only words are compared. */
  readonly vector?: Float32Array | undefined;
}

/** What is alike in these spaces, the best first. */
export async function search(
  index: MemoryIndex,
  text: string,
  spaces: readonly Space[],
  { kind, limit = LIMIT, threshold = 0, nearness = 0, vector }: Options = {},
): Promise<Ranked[]> {
  if (spaces.length === 0) return [];
  const wanted = { kind, limit: CANDIDATES };
  const nearest = vector === undefined ? [] : await index.nearest(vector, spaces, wanted);
  const asked = [...new Set(termsIn(text))].slice(0, 4 * MAX_ASKED);
  const rankings = [await lexical(index, asked, spaces, wanted), byNearness(nearest)];
  const found = fuse(rankings.filter((ranking) => ranking.length > 0));
  return found.filter((each) => isAlike(each, { threshold, nearness })).slice(0, limit);
}

async function lexical(
  index: MemoryIndex,
  terms: readonly string[],
  spaces: readonly Space[],
  wanted: Wanted,
): Promise<Ranked[]> {
  if (terms.length === 0) return [];
  const { asked, statistics } = telling(terms, await index.statistics(terms, spaces));
  const found: Candidate[] = await index.matching(selective(asked, statistics), spaces, wanted);
  return byTerms(asked, statistics, found);
}

/** The terms that say the most. */
function telling(terms: readonly string[], statistics: Statistics) {
  const ranked = terms
    .map((term, at) => ({
      term,
      known: statistics.having[at] ?? 0,
      weight: weightOf(statistics, at),
    }))
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, MAX_ASKED);
  return {
    asked: ranked.map(({ term }) => term),
    statistics: { ...statistics, having: ranked.map(({ known }) => known) },
  };
}

/** Those by which candidates are found: the rarest that some text has. */
function selective(asked: readonly string[], { having }: Statistics): string[] {
  let matches = 0;
  return asked.filter((_, at) => {
    const known = having[at] ?? 0;
    if (known === 0 || (matches > 0 && matches + known > MOST_MATCHES)) return false;
    matches += known;
    return true;
  });
}
