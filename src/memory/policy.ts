import { estimateTokens } from "../core/block.ts";
import type { Task } from "./item.ts";

/**
 * How much a record will help whoever meets the same again, 0 to 1: whether it is known to be right counts most, then what was asked,
 * how it was found out, and what was wrong or done about it. A solved or CONFIRMED record counts 0.4, a question from 20 characters 0.2,
 * what was looked at 0.2, a cause from 15 characters 0.1, what was done about it 0.2. LIKELY counts half of CONFIRMED, which CORE 004.19 has
 * not: with its weights a right but only LIKELY cause never reaches 0.6. Measured on both sets of labelled queries, with eight ways in which runs end
 * (`npm run bench -- memory`): a right cause is among the first five for 0.46 of the queries, 0.22 with CORE's weights, and of what is cited 0.55 is
 * right with both. CORE's at 0.5 keep the same records as these at 0.6.
 */
export function usefulness({
  question,
  cause = "",
  certainty,
  looked,
  fixes,
  outcome,
}: Task): number {
  const isRight = outcome === "solved" || certainty === "confirmed";
  const parts = [
    isRight ? 0.4 : certainty === "likely" ? 0.2 : 0,
    question.length >= 20 ? 0.2 : 0,
    looked.length > 0 ? 0.2 : 0,
    cause.length >= 15 ? 0.1 : 0,
    fixes.length > 0 ? 0.2 : 0,
  ];
  return Math.min(
    1,
    parts.reduce((sum, part) => sum + part, 0),
  );
}

/** What is less alike is left out: it has to reach one of them. */
export interface Floor {
  /** The part of what was asked, by its words, 0 to 1. */
  readonly threshold: number;
  /** The cosine of the vectors, 0 to 1. */
  readonly nearness: number;
}

/**
 * Chosen on the labelled set of `test/memory`: the lowest at which nothing is cited for nine in ten questions that no record
 * answers. The cosine is of the vectors there; models of vectors differ.
 */
export const FLOOR: Floor = { threshold: 0.4, nearness: 0.5 };

/** What of a question's own past a run is told. */
export interface RecallPolicy extends Floor {
  /** The newest notes, whatever they are about. */
  readonly recent: number;
  /** What is most alike. */
  readonly similar: number;
  /** All of it together; default: 1000. */
  readonly tokens?: number;
}

const TOKENS = 1_000;
/** Of a model's window, so that a small one has room for the work. */
const PART_OF_WINDOW = 16;

/** The lines that fit, up to the first that does not. `told`: tokens that it costs beside them, once and for each. */
export function withinBudget(
  lines: readonly string[],
  { tokens = TOKENS }: Pick<RecallPolicy, "tokens">,
  contextWindow = Infinity,
  told = { head: 0, line: 0 },
): string[] {
  let room = Math.min(tokens, contextWindow / PART_OF_WINDOW) - told.head;
  const end = lines.findIndex((line) => (room -= estimateTokens(line) + told.line) < 0);
  return end < 0 ? [...lines] : lines.slice(0, end);
}
