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

/** Of a budget, from where on more of it is offered: any earlier nobody can tell whether it will be needed. */
export const NEAR_LIMIT = 0.8;

/** What an extension of work that began with this adds, where it says no more: half of it, so that the work is far from its limits then. */
export function extensionOf({ steps, tokens, minutes, cents }: Budget): Budget {
  return {
    steps: Math.ceil(steps / 2),
    tokens: Math.ceil(tokens / 2),
    minutes: minutes / 2,
    ...(cents !== undefined && { cents: cents / 2 }),
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
