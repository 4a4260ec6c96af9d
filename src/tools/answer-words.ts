import { tryIso } from "../core/instant.ts";
import type { Encoder } from "../security/encoder.ts";
import { textOf } from "./decode.ts";
import { clip } from "./labels.ts";
import { formatMoment } from "./moment.ts";

/** How fields of services' answers are written in results. */

const MAX_TITLE = 100;

/** Words of others, in quotes, on one line. */
export function quoted(value: unknown, encoder: Encoder, maxLength = MAX_TITLE): string {
  return JSON.stringify(clip(textOf(value), maxLength, encoder));
}

const LAST_YEAR = Date.UTC(10_000, 0);

/** ms since 1970, from a text or a number; 0 where it is no time that a calendar has. */
export function time(value: unknown): number {
  const at = typeof value === "number" ? value : Date.parse(textOf(value));
  return at > 0 && at < LAST_YEAR ? at : 0;
}

/** `2026-11-23T01:30:05Z` */
export function iso(ms: number): string {
  return tryIso(ms) ?? "an unknown time";
}

/** `2026-11-23 01:30:05 UTC (4 min ago)` */
export function agoText(value: unknown, now: number): string {
  const at = time(value);
  return at === 0 ? "at an unknown time" : formatMoment(at, now);
}
