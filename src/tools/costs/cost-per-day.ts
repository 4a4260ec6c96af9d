import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { isoUtc } from "../../core/instant.ts";
import { dollarText, microdollarsOfCents, moneyText } from "../../core/money.ts";
import { counted } from "../../core/text.ts";
import {
  moneyCounter,
  tokenCounter,
  type TokenUse,
  unpricedCounter,
} from "../../core/token-counters.ts";
import { defineTool } from "../tool.ts";

const DAY_MS = 86_400_000;
/** The store forgets counters after 40 days. */
const MAX_DAYS = 31;

/** Says how many tokens and how much money each of the last days cost: everybody's, and of these the asker's own and their channel's. */
export function createCostPerDay(tokens: () => TokenUse) {
  return defineTool({
    name: "cost_per_day",
    summary:
      "shows how many tokens and how much money each of the last days cost, everybody's and yours",
    description:
      "Shows how many tokens models used on each of the last days in UTC, and what they cost as far as prices are known: everybody's together, and of these what the person who asks used, and the channel; today also of how much that they may. Use its numbers as they are.",
    input: z.strictObject({
      days: z.int().min(1).max(MAX_DAYS).default(7).describe("How many days, today included"),
    }),
    effect: "read",
    doing: () => "Looking up what each day cost",
    answeredBy: { kind: "text" },
    timeoutMs: 15_000,
    async run({ days }, { asker }) {
      if (asker === undefined)
        throw new BotError("NOT_AVAILABLE", "Costs can be looked at only while the tool is run.");
      const { used, perDay, centsPerDay, sharesOf } = tokens();
      // Who they are can be looked up another time: the numbers are had without.
      const shares = await sharesOf?.(asker.key, asker.account).catch(() => undefined);
      const dates = Array.from({ length: days }, (_, ago) =>
        isoUtc(asker.startedAt - ago * DAY_MS, "day"),
      );
      const lines = dates.map(async (day, ago) => {
        const { person } = asker;
        const place = shares?.place ?? "";
        const [all, own, cost, ownCost, unpriced, ownUnpriced, here, hereCost] = await Promise.all(
          [
            tokenCounter.all(day),
            tokenCounter.person(day, person),
            moneyCounter.all(day),
            moneyCounter.person(day, person),
            unpricedCounter.all(day),
            unpricedCounter.person(day, person),
            tokenCounter.place(day, place),
            moneyCounter.place(day, place),
          ].map(used),
        );
        if (!all && ago > 0) return [];
        const isToday = ago === 0;
        const everybodys = amountText(all, [cost, unpriced], {
          tokens: isToday ? perDay : undefined,
          cents: isToday ? centsPerDay : undefined,
        });
        const theirs = amountText(own, [ownCost, ownUnpriced], isToday ? shares?.ofPerson : {});
        // What a place used of unknown price is not counted apart.
        const isKnown = unpriced === 0;
        const ofPlace = isToday ? shares?.ofPlace : {};
        const heres = amountText(here, isKnown ? [hereCost] : [], ofPlace);
        const inPlace = shares === undefined ? "" : ` and ${heres} in this channel`;
        return [`- ${day}: ${everybodys}; of that ${theirs} for ${asker.name}${inPlace}`];
      });
      const title = `Used or set aside for running requests, cached input counted at a tenth (${counted(days, "day")}; those without any are left out):`;
      return { text: [title, ...(await Promise.all(lines)).flat()].join("\n") };
    },
  });
}

/** `1,200 tokens of at most 5,000,000, $0.42 of at most $20.00`. */
function amountText(
  tokens = 0,
  [microdollars = 0, unpriced = 0]: readonly (number | undefined)[],
  limits: { tokens?: number | undefined; cents?: number | undefined } = {},
): string {
  const most = (limit: string | undefined) => (limit === undefined ? "" : ` of at most ${limit}`);
  const { cents } = limits;
  const count = `${tokens.toLocaleString("en")} ${tokens === 1 ? "token" : "tokens"}${most(limits.tokens?.toLocaleString("en"))}`;
  // Programs before this one counted no money: what they used was not free.
  if (microdollars === 0 && unpriced === 0) return count;
  const limit = cents === undefined ? undefined : dollarText(microdollarsOfCents(cents));
  return `${count}, ${moneyText({ microdollars, unpriced })}${most(limit)}`;
}
