import type { Entry } from "../../core/entry.ts";
import { isoUtc } from "../../core/instant.ts";
import { microdollarsOfCents } from "../../core/money.ts";
import type { RunTerms } from "../../core/run-terms.ts";
import { moneyCounter, tokenCounter } from "../../core/token-counters.ts";
import type { Author } from "../../thread/click-rights.ts";
import { instructsIt } from "../../thread/extending.ts";
import { retryUntilStored } from "../store.ts";
import { peopleAmong, spent } from "./budget.ts";
import { spentMoney } from "./money.ts";
import type { ThreadContext } from "./parts.ts";
import { channelsIn } from "./permission/look-up.ts";

/**
 * Whether somebody may have a run use more: who instructs it, and full members (`asMember`), as long as something is left of the
 * day's budget, of the place's and of their own. The requests themselves are held to these limits too.
 * @throws what a look-up throws
 */
export async function mayExtend(
  ctx: ThreadContext,
  click: Entry<"click">,
  asMember: () => Promise<Author>,
  signal: AbortSignal,
): Promise<Author> {
  const isTheirs = instructsIt(click, ctx.thread);
  const author = isTheirs ? { eligible: true as const, basis: "asked" } : await asMember();
  const { terms } = ctx.parts.run;
  if (!author.eligible || terms === undefined) return author;
  const why = await whyNothingLeft(ctx, terms, click.actor.account, signal);
  return why === undefined ? author : { eligible: false, why };
}

/** Which of the day's limits is used up for that account. */
async function whyNothingLeft(
  ctx: ThreadContext,
  { tokensPerDay, shares, cents = {} }: RunTerms,
  account: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { parts, adapter, journal } = ctx;
  const day = isoUtc(ctx.now(), "day");
  const isUsedUp = async (counter: string, limit: number) =>
    (await retryUntilStored(ctx, () => journal.used(counter))) >= limit;
  const isSpent = async (counter: string, limit = Infinity) =>
    limit !== Infinity && (await isUsedUp(counter, microdollarsOfCents(limit)));
  if (await isUsedUp(tokenCounter.all(day), tokensPerDay))
    return spent(tokensPerDay, "", "tokensPerDay").message;
  if (cents.all !== undefined && (await isSpent(moneyCounter.all(day), cents.all)))
    return spentMoney(cents.all, "", "centsPerDay").message;
  if (shares === undefined || parts.policy.singleOperator || adapter.singleOperator)
    return undefined;
  const [place = ctx.key] = await channelsIn(ctx, signal);
  if (await isUsedUp(tokenCounter.place(day, place), shares.place))
    return spent(shares.place, " for this channel", "tokensPerPlaceDay").message;
  if (cents.place !== undefined && (await isSpent(moneyCounter.place(day, place), cents.place)))
    return spentMoney(cents.place, " for this channel", "centsPerPlaceDay").message;
  for (const [person, isMember] of await peopleAmong(ctx, [account], signal)) {
    const limit = isMember ? shares.person : shares.guest;
    if (await isUsedUp(tokenCounter.person(day, person), limit))
      return isMember
        ? spent(limit, " for one person", "tokensPerPersonDay").message
        : spent(limit, " for a guest", "tokensPerGuestDay").message;
    if (
      cents.person !== undefined &&
      (await isSpent(moneyCounter.person(day, person), cents.person))
    )
      return spentMoney(cents.person, " for one person", "centsPerPersonDay").message;
  }
  return undefined;
}
