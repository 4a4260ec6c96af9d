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
  outcome: Outcome | undefined;
  ms: number | undefined;
}

/**
 * `✓ http_check url=http://a/ · 34 ms`: what it was, how it ended unless well, how long it took. `maxWeight`: of the
 * arguments, as `clip` counts.
 */
export function callInlines({ tool, args, outcome, ms }: CallLine, maxWeight: number): Inline[] {
  const brief = clip(briefArgs(args), maxWeight);
  const how = outcome === undefined || outcome === "ok" ? "" : ` · ${outcome}`;
  const took = ms === undefined ? "" : ` · ${formatElapsed(ms)}`;
  return [
    outcome === undefined ? { text: "⏳" } : MARKS[outcome],
    { text: ` ${tool}` },
    ...(brief === "" ? [] : [{ text: " " }, { text: brief, code: true as const }]),
    { text: how + took },
  ];
}
