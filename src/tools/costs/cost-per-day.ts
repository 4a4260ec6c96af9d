import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { isoUtc } from "../../core/instant.ts";
import { counted } from "../../core/text.ts";
import { tokenCounter, type TokenUse } from "../../core/token-counters.ts";
import { defineTool } from "../tool.ts";

const DAY_MS = 86_400_000;
/** The store forgets counters after 40 days. */
const MAX_DAYS = 31;

/** Says how many tokens each of the last days cost, all and the asker's own. */
export function createCostPerDay(tokens: () => TokenUse) {
  return defineTool({
    name: "cost_per_day",
    summary: "shows how many tokens each of the last days cost, everybody's and yours",
    description:
      "Shows how many tokens models used on each of the last days in UTC: everybody's together, and of these what the person who asks used. Use its numbers as they are.",
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
      const { used, perDay } = tokens();
      const dates = Array.from({ length: days }, (_, ago) =>
        isoUtc(asker.startedAt - ago * DAY_MS, "day"),
      );
      const lines = dates.map(async (day, ago) => {
        const [all, own] = await Promise.all([
          used(tokenCounter.all(day)),
          used(tokenCounter.person(day, asker.person)),
        ]);
        if (all === 0 && ago > 0) return [];
        const limit = ago === 0 ? ` of at most ${perDay.toLocaleString("en")}` : "";
        return [
          `- ${day}: ${all.toLocaleString("en")} ${all === 1 ? "token" : "tokens"}${limit}, ${own.toLocaleString("en")} of them for ${asker.name}`,
        ];
      });
      const title = `Used or set aside for running requests (${counted(days, "day")}; those without any are left out):`;
      return { text: [title, ...(await Promise.all(lines)).flat()].join("\n") };
    },
  });
}
