import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { readPast } from "../../core/past.ts";
import { formatElapsed } from "../../core/instant.ts";
import { formatMoment } from "../moment.ts";
import { orRefused } from "../refusal.ts";
import { hereOf } from "../since.ts";
import { defineTool, type ToolContext, type ToolOutput } from "../tool.ts";
import {
  createPrometheus,
  onlyValue,
  type Prometheus,
  type Series,
  TOOL_TIMEOUT_MS,
  TooMuch,
} from "./api.ts";
import { chartOf } from "./charted.ts";
import { type Instances, timeField } from "./fields.ts";
import { instanceArgument, instanceOf } from "../instances.ts";
import { clip, sharedLabels } from "../labels.ts";
import { whatIsUnknown } from "./near.ts";
import { stepFor } from "./numbers.ts";
import { rangeRows, ranked, sharedText, spanText, valueRows } from "./rows.ts";

/** Enough for every bend that a phone shows, and few enough for thousands of series. */
const MAX_POINTS = 120;
const TOP = 10;

export function createQuery(instances: Instances) {
  return defineTool({
    name: "prometheus_query",
    summary: "runs a PromQL query, at a moment or over a range with a chart",
    description:
      "Runs PromQL on Prometheus or VictoriaMetrics. At a moment: the values, largest first. With since: what each series did (min, max, last, when it moved) and a chart for the people in the thread. Aggregate (sum by, topk) rather than reading many series.",
    input: z.strictObject({
      query: z
        .string()
        .min(1)
        .max(4_000)
        .describe("PromQL")
        .meta({ examples: ['sum by (job) (rate(http_requests_total{code=~"5.."}[5m]))'] }),
      since: timeField.optional().meta({ examples: ["1h"] }),
      at: timeField.default("now").describe("The moment, or the end of the range"),
      ...instanceArgument(instances),
    }),
    effect: "read",
    endpoints: instances,
    timeoutMs: TOOL_TIMEOUT_MS,
    doing: ({ query }) => `Asking Prometheus for ${query}`,
    run: ({ query, since, at, instance }, ctx) =>
      orRefused(async () => {
        const here = await hereOf(ctx);
        const end = await readPast(at, here);
        const server = createPrometheus(ctx, instanceOf({ instance }, instances));
        const asked = { query, server, ctx, now: here.now };
        if (since === undefined) return runInstant(asked, end);
        return runRange(asked, await readPast(since, { ...here, now: end }), end);
      }),
  });
}

interface Asked {
  query: string;
  server: Prometheus;
  ctx: ToolContext;
  /** ms since 1970. */
  now: number;
}

async function runInstant(asked: Asked, at: number): Promise<ToolOutput> {
  const { query, server, ctx, now } = asked;
  const answer = await server.instant(query, at).catch((error: unknown) => topOf(asked, at, error));
  if (typeof answer === "string") return { text: clip(answer, 1_000, ctx.encoder) };
  const { series, total } = Array.isArray(answer)
    ? { series: answer, total: answer.length }
    : answer;
  const when = `at ${formatMoment(at, now)}`;
  if (series.length === 0) return nothing(asked, when);
  // A range selector has several points; its newest is what it is now.
  const newest = series.map(({ labels, times, values }) => ({
    labels,
    times: times.slice(-1),
    values: values.slice(-1),
  }));
  const shared = sharedText(sharedLabels(series.map(({ labels }) => labels)), ctx.encoder);
  const rows = valueRows(newest, total, ctx.encoder);
  return { text: [`${total} series ${when}${shared}`, ...rows].join("\n") };
}

/** The ten largest, where there are too many to read. */
async function topOf(
  { query, server }: Asked,
  at: number,
  error: unknown,
): Promise<{ series: Series[]; total: number }> {
  if (!(error instanceof TooMuch)) throw error;
  const [top, count] = await Promise.all([
    server.instant(`topk(${TOP}, ${query})`, at),
    server.instant(`count(${query})`, at),
  ]);
  return { series: typeof top === "string" ? [] : top, total: onlyValue(count) };
}

async function runRange(asked: Asked, start: number, end: number): Promise<ToolOutput> {
  const { query, server, ctx, now } = asked;
  if (start >= end) throw new BotError("INPUT_INVALID", "since: expected a time before `at`.");
  const stepMs = stepFor(end - start, MAX_POINTS);
  let series: Series[];
  try {
    series = await server.range(query, { start, end, stepMs });
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
    const { text } = await runInstant(asked, end);
    return {
      text: `Too many series for a range: aggregate them, such as sum by (job) (…). At its end:\n${text}`,
    };
  }
  const span = spanText(start, end);
  const told = ranked(series);
  if (told.length === 0) return nothing(asked, span);
  const { note, images } = await chartOf({ title: query, start, end, told }, ctx);
  const shared = sharedText(sharedLabels(told.map((each) => each.series.labels)), ctx.encoder);
  const head = `${told.length} series ${span}, step ${formatElapsed(stepMs)}${shared}`;
  return { text: [head, ...rangeRows(told, now, ctx.encoder), note].join("\n"), images };
}

async function nothing({ query, server, ctx }: Asked, when: string): Promise<ToolOutput> {
  const unknown = await whatIsUnknown(server, query);
  const why =
    unknown.length > 0 ? unknown : ["Every name in the query exists; nothing matched then."];
  const lines = why.map((line) => clip(line, 500, ctx.encoder));
  return { text: [`No series ${when}.`, ...lines].join("\n") };
}
