import { BotError } from "../core/errors.ts";
import type { Finding } from "../core/finding.ts";
import { formatUtc } from "../core/instant.ts";
import { readPast } from "../core/past.ts";
import { counted } from "../core/text.ts";
import { aroundMoment, changeLine, type Changes, type Window } from "./change.ts";
import { hereOf, sinceArgument } from "./since.ts";
import type { ToolContext, ToolOutput } from "./tool.ts";

/** A tool's answer to what changed around a time in the places of one system, such as repositories. */

export const aroundFields = {
  since: sinceArgument.default("24h").describe("How far back: 2h, 1d or a time"),
  at: sinceArgument.default("now").describe("The time it broke; an hour after it is shown too"),
};

/** What can be seen in one place, or in several. */
export interface Seen extends Changes {
  findings: Finding[];
  /** Lines below the changes. */
  notes?: string[];
  /** Nothing at all could be seen there. */
  isBlind: boolean;
}

const MAX_ROWS = 40;
const HOUR_MS = 3_600_000;
/** One call looks at so many places: each costs five requests or more. */
const MAX_PLACES = 8;

/** @throws BotError INPUT_INVALID */
export async function changesAround(
  { since, at }: { since: string; at: string },
  ctx: ToolContext,
  look: (window: Window) => Promise<Seen>,
): Promise<ToolOutput> {
  const here = await hereOf(ctx);
  const moment = await readPast(at, here);
  const from = await readPast(since, { ...here, now: moment });
  if (from >= moment) throw new BotError("INPUT_INVALID", "since: expected a time before at.");
  const to = Math.min(here.now, moment + HOUR_MS);
  const { changes, gaps, findings, notes = [], isBlind } = await look({ from, to });
  if (isBlind) return { text: gaps[0]?.why ?? "Nothing could be seen.", gaps, failed: true };
  const ranked = aroundMoment(changes, moment);
  const rows = ranked.slice(0, MAX_ROWS).map((change) => changeLine(change, moment));
  const more = ranked.length > MAX_ROWS ? [`and ${ranked.length - MAX_ROWS} more`] : [];
  const head = `${counted(changes.length, "change")} from ${formatUtc(from)} to ${formatUtc(to)}, told from ${formatUtc(moment, "second")}:`;
  return { text: [head, ...rows, ...more, ...notes].join("\n"), findings, gaps };
}

/** `kind`: what the places are, such as `repositories`. */
export async function lookAtEach<P>(
  places: readonly P[],
  { kind, nameOf }: { kind: string; nameOf(place: P): string },
  look: (place: P) => Promise<Seen>,
): Promise<Seen> {
  const seen = await Promise.all(places.slice(0, MAX_PLACES).map(look));
  const left = places.slice(MAX_PLACES).map(nameOf);
  const why = `one call looks at ${MAX_PLACES} ${kind}`;
  const skipped = left.length === 0 ? [] : [{ what: left.join(", "), why, help: "Name one." }];
  return {
    changes: seen.flatMap(({ changes }) => changes),
    findings: seen.flatMap(({ findings }) => findings),
    notes: seen.flatMap(({ notes = [] }) => notes),
    gaps: [...seen.flatMap(({ gaps }) => gaps), ...skipped],
    isBlind: seen.every(({ isBlind }) => isBlind),
  };
}
