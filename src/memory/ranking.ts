import type { Candidate, Statistics } from "./index-port.ts";
import type { Floor } from "./policy.ts";
import { isNumbered } from "../core/terms.ts";

/** As Okapi BM25 has them: how soon more of a term says no more, and how much longer texts count less. */
const [SATURATION, LENGTH] = [1.2, 0.75];

/** Ranks below it count little: the constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009). */
const FUSION = 60;

export interface Ranked {
  readonly candidate: Candidate;
  /** 0 to 1: how much of what was asked for it has, by words. */
  readonly words: number;
  /** 0 to 1: how near its vector is. A scale of its own, which each model of vectors has another of. */
  readonly near: number;
}

/** How much it says that a text has the term, by how many have it. */
export function weightOf({ texts, having }: Statistics, at: number): number {
  const known = having[at] ?? 0;
  return Math.log(1 + (texts - known + 0.5) / (known + 0.5));
}

/** By their terms, the best first; `words` is the part of the asked terms' weight that the text has; which one
 * of several machines it was counts in the order alone. */
export function byTerms(
  asked: readonly string[],
  statistics: Statistics,
  candidates: readonly Candidate[],
): Ranked[] {
  const weights = asked.map((_, at) => weightOf(statistics, at));
  const whole = wholeOf(asked, weights, statistics);
  const mean = statistics.texts === 0 ? 1 : Math.max(1, statistics.terms / statistics.texts);
  return candidates
    .map((candidate) => {
      const terms = candidate.terms.split(" ");
      const long = SATURATION * (1 - LENGTH + (LENGTH * terms.length) / mean);
      let [score, covered] = [0, 0];
      for (const [at, term] of asked.entries()) {
        const often = terms.filter((one) => one === term).length;
        if (often === 0) continue;
        const weight = weights[at] ?? 0;
        score += (weight * (SATURATION + 1) * often) / (often + long);
        if (!isNumbered(term)) covered += weight;
      }
      const words = whole === 0 ? 0 : Math.min(1, covered / whole);
      return { candidate, bm25: score, words, near: 0 };
    })
    .toSorted((a, b) => b.bm25 - a.bm25 || newerFirst(a.candidate, b.candidate));
}

/** The most that a text could score. A word that no text has counts too: nothing that is found answers that part of the question. */
function wholeOf(
  asked: readonly string[],
  weights: readonly number[],
  { having }: Statistics,
): number {
  const counted = asked.flatMap((term, at) => (isNumbered(term) ? [] : [at]));
  const known = counted.flatMap((at) => (having[at] === 0 ? [] : (weights[at] ?? 0)));
  const sum = known.reduce((before, weight) => before + weight, 0);
  return known.length === 0 ? 0 : (sum * counted.length) / known.length;
}

/** By their vectors. */
export function byNearness(candidates: readonly Candidate[]): Ranked[] {
  return candidates
    .map((candidate) => ({ candidate, words: 0, near: Math.max(0, candidate.near ?? 0) }))
    .toSorted((a, b) => b.near - a.near || newerFirst(a.candidate, b.candidate));
}

/** Several rankings as one: what stands high in most of them comes first. Each keeps its words and its nearness. */
export function fuse(rankings: readonly (readonly Ranked[])[]): Ranked[] {
  const fused = new Map<string, Ranked & { rank: number }>();
  for (const ranking of rankings)
    for (const [place, { candidate, words, near }] of ranking.entries()) {
      const of = `${candidate.journal}\n${candidate.id}`;
      const before = fused.get(of) ?? { candidate, words: 0, near: 0, rank: 0 };
      const rank = before.rank + 1 / (FUSION + place + 1);
      fused.set(of, {
        candidate,
        words: Math.max(words, before.words),
        near: Math.max(near, before.near),
        rank,
      });
    }
  return [...fused.values()]
    .toSorted((a, b) => b.rank - a.rank || newerFirst(a.candidate, b.candidate))
    .map(({ candidate, words, near }) => ({ candidate, words, near }));
}

/** Whether it reaches the floor: by its words or by its vector. */
export function isAlike({ words, near }: Ranked, { threshold, nearness }: Floor): boolean {
  return (words > 0 && words >= threshold) || (near > 0 && near >= nearness);
}

/** Two journals may have the same id at the same time. */
function newerFirst(a: Candidate, b: Candidate): number {
  return b.at - a.at || compared(a.id, b.id) || compared(a.journal, b.journal);
}

function compared(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
