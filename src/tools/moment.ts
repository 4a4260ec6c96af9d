import { formatElapsed, formatUtc, tryIso } from "../core/instant.ts";

/** A point in time (ms since 1970) and how long ago that is: "2026-11-21 22:49:01 UTC (3 h ago)". */
export function formatMoment(ms: number, now = Date.now()): string {
  if (tryIso(ms) === undefined) return "an unknown time";
  const ago = now - ms;
  return `${formatUtc(ms, "second")} (${ago <= 0 ? "now" : `${formatElapsed(ago)} ago`})`;
}
