import type { Adapter } from "../adapters/adapter.ts";
import type { Config } from "../config/config.ts";
import { transportOf } from "../core/journal-key.ts";
import type { TokenUse } from "../core/token-counters.ts";

/** What of a day is whose, as `worker/thread/budget.ts` holds them to it. Where one person sits there are no shares. */
export function createDayShares(
  { budgets, approvals }: Pick<Config, "budgets" | "approvals">,
  adapters: ReadonlyMap<string, Adapter>,
): NonNullable<TokenUse["sharesOf"]> {
  return async (key, account) => {
    const adapter = adapters.get(transportOf(key));
    if (adapter === undefined || adapter.singleOperator || approvals.singleOperator)
      return undefined;
    const isMember = (await adapter.people.membership(account, key)) === "member";
    const tokens = isMember ? budgets.tokensPerPersonDay : budgets.tokensPerGuestDay;
    return {
      place: await adapter.channel(key),
      ofPerson: { tokens, cents: budgets.centsPerPersonDay },
      ofPlace: { tokens: budgets.tokensPerPlaceDay, cents: budgets.centsPerPlaceDay },
    };
  };
}
