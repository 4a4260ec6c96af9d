import { BotError } from "../../core/errors.ts";
import { inQuotes } from "../../core/text.ts";

/** A week: who is reminded less often than that does not want to be. */
const MAX_MINUTES = 10_080;

const LENGTH = /^(\d{1,5}) ?(m|min|mins|minutes?|h|hours?|d|days?)?$/i;
const NEVER = /^(?:never|off|none|0)$/i;

const MINUTES: Readonly<Record<string, number>> = { m: 1, h: 60, d: 1_440 };

/** Minutes of `15`, `15 min`, `2h`; 0: `never`. @throws BotError INPUT_INVALID for anything else, and for more than a week */
export function readEvery(text: string): number {
  const written = text.trim().replace(/^every /i, "");
  if (NEVER.test(written)) return 0;
  const [, count, unit = "m"] = LENGTH.exec(written) ?? [];
  const minutes = Number(count) * (MINUTES[unit.slice(0, 1).toLowerCase()] ?? 1);
  if (minutes >= 1 && minutes <= MAX_MINUTES) return minutes;
  throw new BotError(
    "INPUT_INVALID",
    `updateEvery can't be ${inQuotes(written)}. Write minutes as 15, or 30 min, 2h, at most 7 days, or never.`,
  );
}
