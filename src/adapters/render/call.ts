import { formatElapsed } from "../../core/instant.ts";
import type { JsonObject, Outcome } from "../../core/entry.ts";
import { clip } from "./clip.ts";
import { briefArgs } from "./phrases.ts";
import type { Inline } from "./rich-text.ts";

const MARKS: Readonly<Record<Outcome, Pick<Inline, "text" | "tone">>> = {
  ok: { text: "✓", tone: "good" },
  error: { text: "✗", tone: "bad" },
  blocked: { text: "✗", tone: "bad" },
  unknown: { text: "❓", tone: "alarm" },
  denied: { text: "–" },
  expired: { text: "–" },
  cancelled: { text: "–" },
};

/** A call in one line. `outcome` undefined: it runs. */
export interface CallLine {
  tool: string;
  args: JsonObject;
  /** Said instead of the tool and its arguments. */
  doing?: string | undefined;
  outcome: Outcome | undefined;
  ms: number | undefined;
}

/**
 * `✓ Checking http://a/ · 34 ms`, else `✓ http_check url=http://a/ · 34 ms`: what it was, how it ended unless well, how long
 * it took. `maxWeight`: of the words or arguments, as `clip` counts.
 */
export function callInlines(
  { tool, args, doing, outcome, ms }: CallLine,
  maxWeight: number,
): Inline[] {
  const words = doing === undefined ? tool : clip(doing, maxWeight);
  const brief = doing === undefined ? clip(briefArgs(args), maxWeight) : "";
  const how = outcome === undefined || outcome === "ok" ? "" : ` · ${outcome}`;
  const took = ms === undefined ? "" : ` · ${formatElapsed(ms)}`;
  return [
    outcome === undefined ? { text: "⏳" } : MARKS[outcome],
    { text: ` ${words}` },
    ...(brief === "" ? [] : [{ text: " " }, { text: brief, code: true as const }]),
    { text: how + took },
  ];
}
