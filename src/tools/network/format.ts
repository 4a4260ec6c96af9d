import * as z from "zod";
import { formatElapsed } from "../../core/instant.ts";
import { printable } from "../../net/format.ts";
import type { Encoder } from "../../security/encoder.ts";
import { cleanText } from "../../security/sanitize.ts";

/** The longest that one check may take, in seconds. */
const MAX_SECONDS = 60;
/** A check ends by itself; what is left is for closing. */
export const CHECK_TIMEOUT_MS = (MAX_SECONDS + 5) * 1_000;

export const timeoutField = (what: string) =>
  z.number().positive().max(MAX_SECONDS).default(10).describe(`For the whole check${what}`);

/**
 * The first `maxLength` characters of other people's text on one line, as `printable`. A secret in it, or across its
 * end, is taken out: `text` has to go on for the encoder's reach, unless that is all of it.
 */
export function printablePart(text: string, maxLength: number, encoder: Encoder): string {
  const clean = cleanText(text);
  const safe = encoder.encodeWithin(clean, 0, maxLength);
  // Written out only where there is no secret in it: between escaped characters none would be found any more.
  const isPlain = safe === clean.slice(0, maxLength);
  const part = printable(isPlain ? text.slice(0, maxLength) : safe, Number.POSITIVE_INFINITY);
  return text.length > maxLength ? `${part}…` : part;
}

/** Other people's text as lines that cannot be taken for the report's own. */
export function quotedLines(text: string): string[] {
  return cleanText(text)
    .split(/\r\n|\n|\r/)
    .map((line) => `  | ${printable(line.replace(/\t/g, "  "), 400)}`);
}

/** `connect 0.4 ms, total 34 ms`, without the steps that did not happen. */
export function formatTimes(steps: readonly (readonly [string, number | undefined])[]): string {
  return steps
    .flatMap(([step, ms]) => (ms === undefined ? [] : `${step} ${formatElapsed(ms)}`))
    .join(", ");
}
