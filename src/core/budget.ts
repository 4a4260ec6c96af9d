import * as z from "zod";
import { count } from "./entry-fields.ts";

/** What work may use up: `tokens` as `countedTokens` has them; `cents` of a US dollar, absent: no limit. */
export const budget = z.strictObject({
  steps: count,
  tokens: count,
  minutes: z.number().positive(),
  cents: z.number().nonnegative().optional(),
});
export type Budget = z.infer<typeof budget>;

/** What it may use more. What is absent stays as it was. */
export const moreBudget = z.strictObject({
  steps: count.optional(),
  tokens: count.optional(),
  minutes: z.number().nonnegative().optional(),
  cents: z.number().nonnegative().optional(),
});
export type MoreBudget = z.infer<typeof moreBudget>;

/** A limit that there was not does not come about. */
export function addBudget({ steps, tokens, minutes, cents }: Budget, more: MoreBudget): Budget {
  return {
    steps: steps + (more.steps ?? 0),
    tokens: tokens + (more.tokens ?? 0),
    minutes: minutes + (more.minutes ?? 0),
    ...(cents !== undefined && { cents: cents + (more.cents ?? 0) }),
  };
}

/** That share of it. */
export function partOf({ steps, tokens, minutes, cents }: Budget, share: number): Budget {
  return {
    steps: Math.ceil(steps * share),
    tokens: Math.ceil(tokens * share),
    minutes: minutes * share,
    ...(cents !== undefined && { cents: cents * share }),
  };
}

/** What work may come to at most. */
export interface Estimate {
  steps: number;
  tokens: number;
  minutes: number;
  /** About; absent where prices are not known. */
  microdollars?: number;
}
