import type { RunTerms } from "../../core/run-terms.ts";
import { NO_USAGE, type Usage } from "../../core/block.ts";
import { BotError } from "../../core/errors.ts";
import { dollarText, microdollarsOf, microdollarsOfCents } from "../../core/money.ts";
import { moneyCounter, unpricedCounter } from "../../core/token-counters.ts";
import type { Reservation } from "../../journal/journal.ts";
import { costOf } from "../../models/known.ts";
import { retryUntilStored } from "../store.ts";
import type { Allowance, ThreadContext } from "./parts.ts";

/** The day's money: counted wherever prices are known, and limited where the configuration says so. */

/** What a request costs; nothing is said of it where the price is not known. */
export function costIn(
  { parts }: Pick<ThreadContext, "parts">,
  model: string,
  usage: Usage,
): { microdollars?: number } {
  const cost = costOf(usage, parts.priceOf?.(model));
  return cost === undefined ? {} : { microdollars: microdollarsOf(cost) };
}

/** @throws BotError BUDGET_EXHAUSTED where nobody knows the price */
function costOfMost(ctx: ThreadContext, model: string, usage: Usage): number {
  const { microdollars } = costIn(ctx, model, usage);
  if (microdollars !== undefined) return microdollars;
  const text = `The price of ${model} is unknown, so the limits in cents (budgets) can't be kept. Say its price in models.${model} of watchkeeper.yaml, or choose another model with \`model <id>\`.`;
  throw new BotError("BUDGET_EXHAUSTED", text);
}

/**
 * Refuses what the day's money is not enough for, and sets aside what the request may cost at most, by the dearest of the models
 * that may be asked. As with tokens, what was used
 * counts of a person's and a place's part, so that it may be passed by the requests that are under way.
 * @throws BotError BUDGET_EXHAUSTED, also where there is a limit and nobody knows the price
 */
export async function openMoney(
  ctx: ThreadContext,
  { cents = {}, budget, maxOutputTokens: output }: RunTerms,
  allowance: Allowance,
  { models, requestTokens: input }: { models: readonly string[]; requestTokens: number },
): Promise<void> {
  const { day, payers } = allowance;
  const all = { ...cents, run: budget.cents };
  if (Object.values(all).every((limit) => limit === undefined)) return;
  // Whichever answers, the limit holds.
  const costs = models.map((model) => costOfMost(ctx, model, { ...NO_USAGE, input, output }));
  const most = Math.max(0, ...costs);
  const isLeft = async (counter: string, limit: number) =>
    (await retryUntilStored(ctx, () => ctx.journal.used(counter))) < microdollarsOfCents(limit);
  const { person, place } = cents;
  if (place !== undefined && payers.place !== undefined) {
    const counter = moneyCounter.place(day, payers.place);
    if (!(await isLeft(counter, place)))
      throw spentMoney(place, " for this channel", "centsPerPlaceDay");
  }
  if (person !== undefined && payers.people.length > 0) {
    const counters = payers.people.map((name) => moneyCounter.person(day, name));
    const left = await Promise.all(counters.map((counter) => isLeft(counter, person)));
    // Who asks together with others may as long as one of them has something left.
    if (!left.includes(true)) throw spentMoney(person, " for one person", "centsPerPersonDay");
  }
  if (cents.all === undefined) return;
  const limit = microdollarsOfCents(cents.all);
  allowance.deposit = await retryUntilStored(ctx, () =>
    ctx.journal.reserve(moneyCounter.all(day), most, limit),
  );
  if (allowance.deposit === undefined)
    throw spentMoney(cents.all, "", "centsPerDay", "used up or set aside");
}

export function spentMoney(
  cents: number,
  whose: string,
  setting: string,
  how = "used up",
): BotError {
  const dollars = dollarText(microdollarsOfCents(cents));
  const text = `The day's budget of ${dollars}${whose} is ${how} (budgets.${setting}); the next day begins at 00:00 UTC.`;
  return new BotError("BUDGET_EXHAUSTED", text);
}

/** Books what the allowance's requests cost, everybody's and of those who asked for them. */
export async function bookMoney(
  ctx: ThreadContext,
  { day, money: { microdollars, unpriced }, payers, deposit }: Allowance,
): Promise<void> {
  if (ctx.parts.priceOf === undefined) return;
  const { people, place } = payers;
  const add = async (counter: string, amount: number) => {
    if (amount > 0) await book(ctx, await opened(ctx, counter), Math.ceil(amount));
  };
  if (deposit !== undefined) await book(ctx, deposit, microdollars);
  else await add(moneyCounter.all(day), microdollars);
  await add(unpricedCounter.all(day), unpriced);
  if (place !== undefined) await add(moneyCounter.place(day, place), microdollars);
  // Several who ask together pay a part each.
  for (const person of people) {
    await add(moneyCounter.person(day, person), microdollars / people.length);
    await add(unpricedCounter.person(day, person), unpriced / people.length);
  }
}

/** A counter without a limit, to be booked on. */
export async function opened(ctx: ThreadContext, counter: string): Promise<Reservation> {
  const set = await retryUntilStored(ctx, () =>
    ctx.journal.reserve(counter, 0, Number.MAX_SAFE_INTEGER),
  );
  if (set === undefined) throw new TypeError(`nothing fits into ${counter}`);
  return set;
}

export async function book(ctx: ThreadContext, set: Reservation, used: number): Promise<void> {
  try {
    await ctx.journal.commitReservation(set, used);
  } catch (error) {
    ctx.log.warn(
      { err: error, counter: set.counter },
      "used tokens could not be booked; they stay set aside",
    );
  }
}
