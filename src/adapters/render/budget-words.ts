import type { Estimate } from "../../core/budget.ts";
import { listAnd } from "../../core/lists.ts";
import { dollarText, microdollarsOfCents, type Money } from "../../core/money.ts";
import { counted } from "../../core/text.ts";
import type { Meter } from "../shown.ts";
import { formatCount } from "./phrases.ts";

/** What work uses, and what more would cost. */

/** `up to 15 steps, about $0.40`; where no price is known `up to 15 steps, 200k tokens`. */
export function estimateWords({ steps, tokens, microdollars }: Estimate): string {
  const cost =
    microdollars === undefined
      ? `${formatCount(tokens)} tokens`
      : `about ${dollarText(microdollars)}`;
  return `up to ${counted(steps, "step")}, ${cost}`;
}

/** `12 of 30 steps · 140k of 400k tokens · $0.42 · 3 of 15 min` */
export function meterWords({ budget, steps, tokens, money, workMs, extendedBy }: Meter): string {
  const minutes = (count: number) => String(Math.round(count));
  const parts = [
    `${steps} of ${budget.steps} steps`,
    `${formatCount(tokens)} of ${formatCount(budget.tokens)} tokens`,
    ...moneyWords(money, budget.cents),
    `${minutes(workMs / 60_000)} of ${minutes(budget.minutes)} min`,
    ...(extendedBy.length > 0 ? [`extended by ${listAnd(extendedBy)}`] : []),
  ];
  return parts.join(" · ");
}

/** Nothing where no price is known; what is not all of it says so. */
function moneyWords({ microdollars, unpriced }: Money, cents: number | undefined): string[] {
  if (microdollars === 0) return [];
  const some = `${unpriced > 0 ? "at least " : ""}${dollarText(microdollars)}`;
  return [cents === undefined ? some : `${some} of ${dollarText(microdollarsOfCents(cents))}`];
}
