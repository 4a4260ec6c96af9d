import * as z from "zod";
import { readMoment } from "../core/instant.ts";
import type { ToolContext } from "./tool.ts";

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

export const sinceArgument = z
  .string()
  .min(1)
  .max(40)
  .describe("15m, 2h, 1d or a time such as 14:05 or 2026-11-23T01:30Z");

/** From when on, ms since 1970. @throws BotError INPUT_INVALID for what is no time */
export async function sinceMs(
  since: string,
  { asker }: ToolContext,
  now = Date.now(),
): Promise<number> {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(since.trim()) ?? [];
  if (count !== undefined) return now - Number(count) * (UNIT_MS[unit] ?? 0);
  return readMoment(since, { zone: (await asker?.timezone()) ?? "UTC", now });
}
