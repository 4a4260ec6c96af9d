import * as z from "zod";
import type { Here } from "../core/instant.ts";
import { readPast } from "../core/past.ts";
import type { ToolContext } from "./tool.ts";

export const sinceArgument = z
  .string()
  .min(1)
  .max(40)
  .describe("15m, 2h, 1d or a time such as 14:05 or 2026-11-23T01:30Z");

/** When the call was started, or now, ms since 1970. */
export function nowOf({ asker }: ToolContext): number {
  return asker?.startedAt ?? Date.now();
}

/** When and where the call is made. */
export async function hereOf(ctx: ToolContext): Promise<Here> {
  return { zone: (await ctx.asker?.timezone()) ?? "UTC", now: nowOf(ctx) };
}

/** From when on, ms since 1970. @throws BotError INPUT_INVALID for what is no time */
export async function sinceMs(since: string, ctx: ToolContext): Promise<number> {
  return readPast(since, await hereOf(ctx));
}
