import { totalTokens, type Usage } from "./block.ts";

/** What requests to models cost, as far as that is known. */
export interface Money {
  /** Millionths of a US dollar. */
  readonly microdollars: number;
  /** Tokens of models whose price was not known then: they cost something too. */
  readonly unpriced: number;
}

export const NO_MONEY: Money = { microdollars: 0, unpriced: 0 };

export const PRICE_UNKNOWN = "price unknown";

const CENT = 10_000;

export function microdollarsOf(dollars: number): number {
  return Math.round(dollars * 1_000_000);
}

export function centsOf(microdollars: number): number {
  return microdollars / CENT;
}

export function microdollarsOfCents(cents: number): number {
  return Math.round(cents * CENT);
}

/** What one request cost. An entry of a version that knew no prices says nothing of it. */
export function moneyOf({
  usage,
  microdollars,
}: {
  usage: Usage;
  microdollars?: number | undefined;
}): Money {
  return microdollars === undefined
    ? { microdollars: 0, unpriced: totalTokens(usage) }
    : { microdollars, unpriced: 0 };
}

export function addMoney(a: Money, b: Money): Money {
  return { microdollars: a.microdollars + b.microdollars, unpriced: a.unpriced + b.unpriced };
}

/** `$0.42`, and of what is less than a cent `$0.0042`. */
export function dollarText(microdollars: number): string {
  const dollars = microdollars / 1_000_000;
  if (dollars === 0 || dollars >= 0.01)
    return `$${dollars.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return dollars < 0.0001 ? "less than $0.0001" : `$${dollars.toFixed(4)}`;
}

/** `$0.42`, `price unknown`, or `$0.42 and 12,000 tokens at an unknown price`: what is not known is never told as nothing. */
export function moneyText({ microdollars, unpriced }: Money): string {
  if (unpriced === 0) return dollarText(microdollars);
  if (microdollars === 0) return PRICE_UNKNOWN;
  const tokens = `${unpriced.toLocaleString("en")} ${unpriced === 1 ? "token" : "tokens"}`;
  return `${dollarText(microdollars)} and ${tokens} at an unknown price`;
}
