import type { Gap } from "../../core/finding.ts";
import { isoUtc, tryIso } from "../../core/instant.ts";
import { counted } from "../../core/text.ts";
import { Refusal } from "../refusal.ts";
import { UNITS } from "./entries.ts";
import type { Times } from "./fields.ts";
import type { News } from "./report.ts";
import type { LogServer, LogSource } from "./source.ts";
import type { createThread } from "./thread.ts";

export interface Budget {
  /** Of all windows together. */
  lines: number;
  bytes: number;
  ms: number;
  /** Of one request. */
  page: number;
}

interface Asked {
  times: Times;
  /** The newest lines as they are, so many. */
  lines: number | undefined;
  pattern: string | undefined;
}

/** What of a time was read. */
export interface ServerRead {
  /** From when on, ms since 1970. */
  since: number;
  bytes: number;
  news: News | undefined;
  gaps: Gap[];
}

/** ms since 1970; `until` is not included. */
interface Span {
  since: number;
  until: number;
}

/** `from`: since when its lines were read, `since` where all of them were. */
type SpanRead = Span & { lines: number; from: number };

/**
 * Reads from the newest line backwards, as far as the budget goes. What is new is told from what was before, so both times get half
 * of it.
 */
export async function readServer(
  server: Pick<LogServer, "system" | "title">,
  source: Pick<LogSource, "page">,
  { times: { since, until, news }, lines, pattern }: Asked,
  { thread, budget }: { thread: ReturnType<typeof createThread>; budget: Budget },
): Promise<ServerRead> {
  const spans =
    news === undefined
      ? [{ since, until }]
      : [
          { since: news, until },
          { since, until: news },
        ];
  // Lines as they are need not be looked through.
  const isDirect = lines !== undefined && pattern === undefined;
  const most = isDirect ? lines : Math.floor(budget.lines / spans.length);
  const total = { bytes: 0, began: performance.now() };
  const gaps: Gap[] = [];
  const read: SpanRead[] = [];
  for (const span of spans) {
    const share = (read.length + 1) / spans.length;
    const isOver = () =>
      total.bytes > budget.bytes * share || performance.now() - total.began > budget.ms * share;
    const limits = { most, page: Math.min(budget.page, most), isOver };
    read.push(await readSpan(server, source, span, { thread, limits, total, gaps }));
  }
  if (!isDirect) gaps.push(...read.flatMap((each) => cutGap(each, server.title)));
  const before = read[1];
  return {
    since: Math.min(...read.map(({ from }) => from)),
    bytes: total.bytes,
    news:
      news === undefined || before === undefined
        ? undefined
        : {
            since: news,
            before: `the ${counted(before.lines, "line")} from ${isoUtc(before.from, "second")}Z to ${isoUtc(news, "second")}Z`,
          },
    gaps,
  };
}

async function readSpan(
  { system, title }: Pick<LogServer, "system" | "title">,
  source: Pick<LogSource, "page">,
  span: Span,
  {
    thread,
    limits,
    total,
    gaps,
  }: {
    thread: ReturnType<typeof createThread>;
    limits: { most: number; page: number; isOver(): boolean };
    total: { bytes: number };
    gaps: Gap[];
  },
): Promise<SpanRead> {
  const unit = UNITS[system];
  const from = BigInt(span.since) * unit;
  let to = BigInt(span.until) * unit;
  let lines = 0;
  let begin = true;
  while (lines < limits.most && to > from && !limits.isOver()) {
    const { text, most, gap } = await source.page(from, to, limits.page);
    if (gap !== undefined && !gaps.some(({ why }) => why === gap.why)) gaps.push(gap);
    total.bytes += Buffer.byteLength(text);
    const page = await thread.page({ system, text, begin });
    begin = false;
    if (page.received === undefined)
      throw new Refusal(`${title} answered with something else than lines; ask it for log lines.`);
    lines += page.fresh;
    if (page.received < most || page.oldest === undefined)
      return { ...span, lines, from: span.since };
    const oldest = BigInt(page.oldest);
    const isStuck = oldest + 1n >= to;
    if (isStuck) gaps.push(crowded(title, Number(oldest / unit), most));
    to = isStuck ? oldest : oldest + 1n;
  }
  return { ...span, lines, from: Math.max(span.since, Number(to / unit)) };
}

function crowded(title: string, at: number, most: number): Gap {
  return {
    what: `some lines of ${tryIso(at) ?? "one time"}`,
    why: `${title} gives ${most} lines at once, and more have that very time`,
    help: "Name a service or a query.",
  };
}

function cutGap({ from, since, lines }: SpanRead, title: string): Gap[] {
  if (from <= since) return [];
  return [
    {
      what: `lines from ${isoUtc(since, "second")}Z to ${isoUtc(from, "second")}Z`,
      why: `the newest ${counted(lines, "line")} behind them were read of ${title}, and a call reads no more`,
      help: "Name a service, a query or a shorter time.",
    },
  ];
}
