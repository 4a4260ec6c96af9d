import { formatElapsed, formatUtc } from "../../core/instant.ts";

/** A point in time (ms since 1970) and how long ago that is: "2026-11-21 22:49:01 UTC (3 h ago)". */
export function formatMoment(ms: number, now = Date.now()): string {
  return `${formatUtc(ms, "second")} (${formatElapsed(Math.max(0, now - ms))} ago)`;
}
