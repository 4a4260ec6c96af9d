import { isoUtc, showDuration } from "../../core/instant.ts";
import { alignedRows } from "../columns.ts";
import { oneLine, shortened } from "../../core/text.ts";

/** How rows of Kubernetes' tools are written. */

const MAX_CELL = 200;

/** Text of the cluster in a row: on one line, cut. */
export function cell(text: string, maxLength = MAX_CELL): string {
  return shortened(oneLine(text), maxLength);
}

export function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return alignedRows([head, ...rows].map((row) => row.map((text) => cell(text)))).join("\n");
}

/** `2026-11-23 01:30:05 (4 min ago)` in UTC; what is no time as it is. */
export function moment(iso: string, now = Date.now()): string {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? iso || "unknown" : `${stamp(ms)} (${ago(iso, now)})`;
}

/** `2026-11-23 01:30:05` in UTC. */
export function stamp(ms: number): string {
  return isoUtc(ms, "second").replace("T", " ");
}

/** `4 min ago`, or `in 3 s` where clocks differ. */
export function ago(iso: string, now = Date.now()): string {
  const ms = Date.parse(iso);
  if (Number.isNaN(ms)) return "unknown";
  return ms > now ? `in ${showDuration(ms - now)}` : `${showDuration(now - ms)} ago`;
}

/** `0.25`, `1.5`: cores. */
export function cores(value: number): string {
  return value < 0.1 ? `${Math.round(value * 1_000)}m` : String(Number(value.toFixed(2)));
}

/** The first `limit` lines, and how many more there are. */
export function firstLines(lines: readonly string[], limit: number, what: string): string[] {
  if (lines.length <= limit) return [...lines];
  return [...lines.slice(0, limit), `… and ${lines.length - limit} more ${what}`];
}
