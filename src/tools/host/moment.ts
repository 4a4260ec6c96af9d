import { formatElapsed } from "../../core/instant.ts";

/** A point in time (ms since 1970) and how long ago that is: "2026-11-21 22:49:01 UTC (3 h ago)". */
export function formatMoment(ms: number, now = Date.now()): string {
  const stamp = new Date(ms).toISOString().slice(0, 19).replace("T", " ");
  return `${stamp} UTC (${formatElapsed(Math.max(0, now - ms))} ago)`;
}
