import { bySeverity, type Finding, type Gap } from "../../core/finding.ts";
import { formatElapsed, isoUtc, tryIso } from "../../core/instant.ts";
import { counted, formatBytes } from "../../core/text.ts";
import type { Encoder } from "../../security/encoder.ts";
import { clip } from "../labels.ts";
import { formatMoment } from "../moment.ts";
import type { ToolOutput } from "../tool.ts";
import type { Template } from "./miner.ts";
import type { Outcome } from "./reading.ts";

/** What was not seen before counts as new. */
export interface News {
  /** From when on, ms since 1970. */
  since: number;
  /** What it was compared with, such as `the 40 lines from … to …`. */
  before: string;
}

export interface Report {
  /** What was read, such as `loki {app="shop"}`. */
  from: string;
  /** The window that was read, ms since 1970, and how much it held. */
  since: number;
  until: number;
  bytes: number;
  news: News | undefined;
  limit: number;
  isRaw: boolean;
  pattern: string | undefined;
  now: number;
}

const MAX_FINDINGS = 5;
/** What is broken now said so a moment ago. */
const NOW_MS = 10 * 60_000;

/** The result: what is new and an error as findings, then templates, the most telling first. */
export function report(
  outcome: Outcome,
  asked: Report,
  gaps: readonly Gap[],
  encoder: Encoder,
): ToolOutput {
  const { news, limit, isRaw, now } = asked;
  const isNew = ({ first }: Template) =>
    news !== undefined && first !== undefined && first >= news.since;
  const sorted = outcome.templates.toSorted(
    (a, b) =>
      Number(isNew(b)) - Number(isNew(a)) ||
      bySeverity(a, b) ||
      b.count - a.count ||
      (a.text < b.text ? -1 : 1),
  );
  if (isRaw)
    return { text: [head(outcome, asked), ...rawRows(outcome)].join("\n"), gaps: [...gaps] };
  const found = sorted
    .filter((each) => isNew(each) && each.severity === "error")
    .slice(0, MAX_FINDINGS);
  const rows = sorted.filter((each) => !found.includes(each));
  const shown = rows.slice(0, limit);
  const left = rows.slice(limit);
  const hasServices = new Set(outcome.templates.map(({ service }) => service)).size > 1;
  const text = [
    head(outcome, asked),
    ...shown.map((each) => row(each, { isNew: isNew(each), hasServices, encoder })),
    ...(left.length > 0
      ? [
          `and ${counted(left.length, "more template")} with ${counted(sum(left), "line")}; limit shows more.`,
        ]
      : []),
  ];
  return {
    text: text.join("\n"),
    findings: found.map((each) => findingOf(each, asked, encoder, now)),
    gaps: [...gaps],
  };
}

function sum(templates: readonly Template[]): number {
  return templates.reduce((all, { count }) => all + count, 0);
}

function head(
  outcome: Outcome,
  { from, since, until, bytes, news, isRaw, pattern }: Report,
): string {
  const { lines, continued, others, templates } = outcome;
  const window = `${stamp(since)} to ${stamp(until)} UTC`;
  const match = pattern === undefined ? "" : ` that match ${JSON.stringify(pattern)}`;
  const made = isRaw
    ? `the newest ${outcome.raw.length} of them`
    : `${counted(templates.length, "template")}${templates.length > 0 ? " (‹…› varies)" : ""}`;
  const facts = [
    `${from}, ${window}: ${counted(lines, "line")}${match} (${formatBytes(bytes)} read), ${made}.`,
    ...(continued > 0 ? [`${counted(continued, "line")} of traces are folded into theirs.`] : []),
    ...(others > 0 ? [`${counted(others, "line")} of still other shapes are not shown.`] : []),
    ...(news === undefined || isRaw ? [] : [`NEW: not among ${news.before}.`]),
  ];
  return facts.join(" ");
}

function stamp(ms: number): string {
  return isoUtc(ms, "second").replace("T", " ");
}

/** `×132 error NEW 04:47:10–05:00:01 checkout: payment ‹8812› failed` */
function row(
  { count, severity, first, last, service, text }: Template,
  { isNew, hasServices, encoder }: { isNew: boolean; hasServices: boolean; encoder: Encoder },
): string {
  const when = first === undefined || last === undefined ? "" : ` ${range(first, last)}`;
  const level = severity === "info" ? "" : ` ${severity}`;
  const who = hasServices ? ` ${clip(service || "(no service)", 60, encoder)}:` : "";
  return `×${count}${level}${isNew ? " NEW" : ""}${when}${who} ${clip(text, 400, encoder)}`;
}

/** `11-23 04:47:10–05:00:01`; a day that is the same is said once. */
function range(first: number, last: number): string {
  const [from, to] = [stamp(first).slice(5), stamp(last).slice(5)];
  if (from === to) return from;
  return from.slice(0, 5) === to.slice(0, 5) ? `${from}–${to.slice(6)}` : `${from}–${to}`;
}

function rawRows({ raw }: Outcome): string[] {
  const hasServices = new Set(raw.map(({ service }) => service)).size > 1;
  return raw.map(({ at, service, text }) => {
    const when = at === undefined ? "" : `${stamp(at)} `;
    return `${when}${hasServices ? `${service || "(no service)"}: ` : ""}${text}`;
  });
}

function findingOf(
  { service, text, count, first, last, severity }: Template,
  { news, from }: Report,
  encoder: Encoder,
  now: number,
): Finding {
  const isNow = last !== undefined && now - last < NOW_MS;
  const ago = first === undefined ? "" : `, first ${formatElapsed(Math.max(0, now - first))} ago`;
  const until = last === undefined ? "" : `, last ${formatMoment(last, now)}`;
  return {
    object: { kind: "Service", namespace: "", name: service || from },
    cause: clip(text.replaceAll(/[‹›]/g, ""), 400, encoder),
    severity: isNow ? severity : "warning",
    evidence: `×${count}${ago}${until}; not among ${news?.before ?? "the lines before"}.`,
    since: (first !== undefined && tryIso(first)) || null,
  };
}
