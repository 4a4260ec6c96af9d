import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { readPast } from "../../core/past.ts";
import { hereOf, sinceArgument } from "../since.ts";
import type { ToolContext } from "../tool.ts";

/** The arguments of both tools that search logs. */
export const logFields = {
  pattern: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .describe("Only lines that match this RE2 expression; case does not count"),
  since: sinceArgument.optional(),
  until: sinceArgument.optional().describe("In the same form. Not given: now"),
  new_since: sinceArgument
    .optional()
    .describe("What is not seen before this time counts as new. Give the time when it broke"),
  limit: z.int().min(1).max(100).default(20).describe("How many templates"),
  lines: z
    .int()
    .min(1)
    .max(500)
    .optional()
    .describe("The newest lines as they are, in place of templates"),
};

const HOUR_MS = 3_600_000;

export interface Times {
  since: number;
  until: number;
  news: number | undefined;
}

/** ms since 1970. Without `since` what is new is compared with as much time before, an hour at least. */
export async function timesOf(
  given: { since?: string | undefined; until?: string | undefined; new_since?: string | undefined },
  ctx: ToolContext,
  now: number,
): Promise<Times> {
  const here = { ...(await hereOf(ctx)), now };
  const read = async (text: string | undefined) =>
    text === undefined ? undefined : readPast(text, here);
  const until = (await read(given.until)) ?? now;
  const news = await read(given.new_since);
  const usual = news === undefined ? until - HOUR_MS : news - Math.max(HOUR_MS, until - news);
  const since = (await read(given.since)) ?? usual;
  if (since >= until) throw new BotError("INPUT_INVALID", "since: it is not before until.");
  if (news !== undefined && (news <= since || news >= until))
    throw new BotError("INPUT_INVALID", "new_since: it is not between since and until.");
  return { since, until, news };
}
