import { isNumbered, termsIn } from "../../src/core/terms.ts";
import type { Row } from "../../src/memory/index-port.ts";
import { FLOOR, type Floor } from "../../src/memory/policy.ts";
import type { Ranked } from "../../src/memory/ranking.ts";
import { NEGATIVES } from "./negatives.ts";
import { RECORDS } from "./questions.ts";
import { SECOND } from "./second-questions.ts";

/** What of a labelled set is found, and how high it stands. */
export interface Retrieval {
  readonly queries: number;
  /** The part of the queries whose record is among the first five. */
  readonly recallAt5: number;
  /** Mean of 1 ÷ the place of the record, 0 where it is not among the first ten. */
  readonly mrr: number;
  /** Questions that no record answers. */
  readonly negatives: number;
  /** The part of those for which nothing reaches the floor. */
  readonly quiet: number;
  /** The part of the queries whose record is cited: among the first three that reach the floor. */
  readonly cited: number;
  /** Of all that is cited for queries and negatives: the part that is the record of the query. */
  readonly precision: number;
}

/** As many as a run is told of. */
const TOLD = 3;

interface Query {
  /** The record that answers it. */
  readonly of: string;
  readonly text: string;
}

export const QUERIES: readonly Query[] = Object.entries(RECORDS).flatMap(([of, { asked }]) =>
  asked.map((text) => ({ of, text })),
);
export const SECOND_QUERIES: readonly Query[] = Object.entries(SECOND).flatMap(([of, asked]) =>
  asked.map((text) => ({ of, text })),
);

export const VECTOR_MODEL = "given/trigrams";
const DIMENSIONS = 256;

/**
 * A vector that is made without a model, the same for the same text: how often each sequence of three letters of its words occurs,
 * folded into 256 numbers (FNV-1a) and of length 1. It knows other forms and spellings of words, and no meanings.
 */
export function trigramVector(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  // `web-3` is there as `web` already.
  for (const word of termsIn(text).filter((term) => !isNumbered(term))) {
    const padded = ` ${word} `;
    for (let at = 0; at + 3 <= padded.length; at++) {
      let hash = 0x811c9dc5;
      for (const letter of padded.slice(at, at + 3))
        hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0;
      const place = hash % DIMENSIONS;
      vector[place] = (vector[place] ?? 0) + 1;
    }
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** A record as an index keeps it, named as the set names it. */
export function rowOf(id: string, text: string, seq: number, space: string): Row {
  const item = JSON.stringify({ text });
  const journal = "memory:slack:T1:2026-11";
  const terms = termsIn(text).join(" ");
  return { id, journal, seq, at: seq, space, kind: "task", item, terms };
}

/** The labelled records, each with what was asked then, the cause and what helped. */
export function recordTexts(): [id: string, text: string][] {
  return Object.entries(RECORDS).map(([id, { question, cause, fix = "" }]) => [
    id,
    [question, cause, fix].join("\n"),
  ]);
}

/** `find`: what is found for a text, the best first, ten at most, of which those that reach the given floor. */
export async function retrieval(
  find: (text: string, floor?: Floor) => Promise<readonly Ranked[]>,
  asked: readonly Query[] = QUERIES,
): Promise<Retrieval> {
  const idsOf = async (text: string, floor?: Floor) =>
    (await find(text, floor)).map(({ candidate }) => candidate.id);
  let [within, reciprocal, right, told, quiet] = [0, 0, 0, 0, 0];
  for (const { of, text } of asked) {
    const place = (await idsOf(text)).indexOf(of) + 1;
    if (place >= 1 && place <= 5) within += 1;
    if (place >= 1) reciprocal += 1 / place;
    const cited = (await idsOf(text, FLOOR)).slice(0, TOLD);
    told += cited.length;
    if (cited.includes(of)) right += 1;
  }
  const negatives = Object.values(NEGATIVES).flat();
  for (const text of negatives) {
    const cited = (await idsOf(text, FLOOR)).slice(0, TOLD);
    told += cited.length;
    if (cited.length === 0) quiet += 1;
  }
  const queries = asked.length;
  return {
    queries,
    recallAt5: within / queries,
    mrr: reciprocal / queries,
    negatives: negatives.length,
    quiet: quiet / negatives.length,
    cited: right / queries,
    precision: told === 0 ? 0 : right / told,
  };
}
