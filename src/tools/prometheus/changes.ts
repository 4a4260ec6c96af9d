import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { formatElapsed } from "../../core/instant.ts";
import { readPast, tryDuration } from "../../core/past.ts";
import { inQuotes } from "../../core/text.ts";
import type { Encoder } from "../../security/encoder.ts";
import { formatMoment } from "../moment.ts";
import { orRefused, Refusal } from "../refusal.ts";
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
import { type Instances, lengthField, selectorField, timeField } from "./fields.ts";
import { instanceArgument, instanceOf } from "../instances.ts";
import { clip, labelText, sharedLabels } from "../labels.ts";
import { whatIsUnknown } from "./near.ts";
import { CLEAR, formatValue, moveBetween } from "./numbers.ts";
import { sharedText } from "./rows.ts";
import { narrowed, selectorOf } from "./selector.ts";

const DEFAULT_WINDOW = "15m";
/** Of a window. More make the mean no better; fewer make one outlier a move. */
const MOST_STEPS = 20;
const LEAST_STEPS = 4;
/** Points of one answer: about 5 MB, which is parsed in about 50 ms. */
const MAX_POINTS = 160_000;
const MAX_ROWS = 10;
/** A histogram's buckets move with its count, and would crowd out everything else. */
const NO_BUCKETS = '__name__!~".+_bucket"';
/** What counts up for ever, by the convention for its name. */
const COUNTER = /_(?:total|count|sum)$/;

export function createChanges(instances: Instances) {
  return defineTool({
    name: "prometheus_changes",
    summary: "ranks the metrics that moved around a time",
    description:
      "Finds what moved around a time: compares each matching series in the window after it with the window before it, counters as rates, and ranks by how clearly they differ. Use it when something broke and nobody knows which metric to ask for.",
    input: z.strictObject({
      at: timeField.meta({ examples: ["14:05"] }),
      match: selectorField
        .optional()
        .describe('A selector such as {namespace="shop"}, or words of metric names; default: all')
        .meta({ examples: ['{job="api"}'] }),
      window: lengthField.default(DEFAULT_WINDOW),
      ...instanceArgument(instances),
    }),
    effect: "read",
    doing: ({ at, match }) =>
      `Looking for metrics that moved around ${at}${match === undefined ? "" : `: ${match}`}`,
    endpoints: instances,
    timeoutMs: TOOL_TIMEOUT_MS,
    run: ({ at: written, match, window, instance }, ctx) =>
      orRefused(async () => {
        const here = await hereOf(ctx);
        const at = await readPast(written, here);
        const windowMs = tryDuration(window);
        if (windowMs === undefined || windowMs < 60_000)
          throw invalid(`window: ${inQuotes(window)} is not a length from 1m on, such as 15m.`);
        const server = createPrometheus(ctx, instanceOf({ instance }, instances));
        const asked = { server, ctx, selector: selectorOf(match), at, windowMs, now: here.now };
        return compare(asked);
      }),
  });
}

interface Asked {
  server: Prometheus;
  ctx: ToolContext;
  selector: string;
  /** ms since 1970. */
  at: number;
  windowMs: number;
  now: number;
}

async function compare(asked: Asked): Promise<ToolOutput> {
  const { server, ctx, selector, at, windowMs, now } = asked;
  const end = Math.min(at + windowMs, now);
  if (end - at < 30_000)
    throw invalid("at: expected a time at least 30 s ago, to see what came after it.");
  const narrow = narrowed(selector, NO_BUCKETS);
  const total = await countOf(server, narrow, at, end);
  if (total === 0) {
    const unknown = await whatIsUnknown(server, selector);
    const lines = unknown.map((line) => clip(line, 500, ctx.encoder));
    return {
      text: [`No series matches ${clip(selector, 300, ctx.encoder)} then.`, ...lines].join("\n"),
    };
  }
  const steps = Math.min(MOST_STEPS, Math.floor(MAX_POINTS / total / 2));
  if (steps < LEAST_STEPS) return tooMany(asked, total);
  const stepMs = Math.max(1_000, Math.ceil((end - at) / steps / 1_000) * 1_000);
  const start = at - Math.ceil(windowMs / stepMs) * stepMs;
  let series: Series[];
  try {
    series = await server.range(narrow, { start, end, stepMs });
  } catch (error) {
    if (error instanceof TooMuch) return tooMany(asked, total);
    throw error;
  }
  return { text: report(series, asked, { start, end, stepMs }) };
}

async function countOf(server: Prometheus, selector: string, ...times: number[]): Promise<number> {
  const counts = await Promise.all(times.map((time) => server.instant(`count(${selector})`, time)));
  return Math.max(...counts.map(onlyValue));
}

/** Too many to compare: which metrics they are of, so that the next call asks for less. */
async function tooMany({ server, ctx, selector, at }: Asked, total: number): Promise<ToolOutput> {
  const byName = await server.instant(`topk(10, count by (__name__) (${selector}))`, at);
  const rows = typeof byName === "string" ? [] : byName;
  const names = rows.map(
    ({ labels, values: [count = 0] }) => `- ${count}  ${labelText(labels, ctx.encoder)}`,
  );
  throw new Refusal(
    [
      `${total} series match, too many to compare at once. Name fewer, such as {job="…"} or words of a metric's name. Most series:`,
      ...names,
    ].join("\n"),
  );
}

interface Moved {
  series: Series;
  before: number;
  after: number;
  score: number;
  isRate: boolean;
}

function report(
  series: readonly Series[],
  { at, now, ctx, selector }: Asked,
  { start, end, stepMs }: { start: number; end: number; stepMs: number },
): string {
  const { encoder } = ctx;
  const compared = series.map((each) => compareOne(each, at, stepMs));
  const moved = compared
    .flatMap((each) => (typeof each === "object" && each.score >= CLEAR ? [each] : []))
    .toSorted((a, b) => b.score - a.score);
  const head = [
    `Around ${formatMoment(at, now)}: ${formatElapsed(at - start)} before against ${formatElapsed(end - at)} after,`,
    `${series.length} series of ${clip(selector, 200, encoder)}: ${moved.length} moved.`,
  ].join(" ");
  const ofMetric = Map.groupBy(moved, (each) => each.series.labels["__name__"] ?? "");
  const groups = [...ofMetric.values()];
  const said = sharedLabels(moved.map((each) => each.series.labels));
  const shown = groups.slice(0, MAX_ROWS).map((group) => {
    const [first] = group;
    if (first === undefined) return "";
    const more = group.length > 1 ? `; ${group.length - 1} more of this metric moved` : "";
    return `- ${movedText(first)}  ${labelText(first.series.labels, encoder, said)}${more}`;
  });
  const rest = groups.length - shown.length;
  const only = (kind: "new" | "gone") =>
    onlyText(
      kind,
      series.filter((_, index) => compared[index] === kind),
      encoder,
    );
  return [
    head + sharedText(said, encoder),
    ...shown,
    ...(rest > 0 ? [`and ${rest} more metrics`] : []),
    ...only("new"),
    ...only("gone"),
  ].join("\n");
}

/** How one series stands after `at` against before; `new` and `gone` where it is on one side only. */
function compareOne(
  series: Series,
  at: number,
  stepMs: number,
): Moved | "new" | "gone" | undefined {
  const isRate = COUNTER.test(series.labels["__name__"] ?? "");
  const points = isRate ? ratesOf(series, stepMs) : pointsOf(series);
  const before = points.flatMap(({ time, value }) => (time <= at ? [value] : []));
  const after = points.flatMap(({ time, value }) => (time > at ? [value] : []));
  if (before.length === 0) return after.length === 0 ? undefined : "new";
  if (after.length === 0) return "gone";
  return { series, isRate, ...moveBetween(before, after) };
}

function pointsOf({ times, values }: Series) {
  return times.flatMap((time, at) => {
    const value = values[at] ?? Number.NaN;
    return Number.isFinite(value) ? [{ time, value }] : [];
  });
}

/** By the second, from one step to the next; a counter that fell was started again. */
function ratesOf(series: Series, stepMs: number) {
  return pointsOf(series).flatMap(({ time, value }, at, all) => {
    const previous = all[at - 1];
    if (previous === undefined || time - previous.time > stepMs) return [];
    const grown = value >= previous.value ? value - previous.value : value;
    return [{ time, value: (grown * 1_000) / (time - previous.time) }];
  });
}

function movedText({ before, after, series, isRate }: Moved): string {
  const show = (value: number) => formatValue(value, isRate ? "" : series.labels["__name__"]);
  const unit = isRate ? "/s" : "";
  const factor = before === 0 ? Number.POSITIVE_INFINITY : after / before;
  const times =
    factor > 1.5 && factor < 1e6 ? `, ×${formatValue(Number(factor.toPrecision(2)))}` : "";
  return `${show(before)}${unit} → ${show(after)}${unit}${times}`;
}

/** `Only after: 12 series: kube_pod_info ×10, up ×2` */
function onlyText(kind: "new" | "gone", series: readonly Series[], encoder: Encoder): string[] {
  if (series.length === 0) return [];
  const byName = [...Map.groupBy(series, ({ labels }) => labels["__name__"] ?? "")]
    .toSorted((a, b) => b[1].length - a[1].length)
    .slice(0, 5)
    .map(([name, same]) => `${name}${same.length > 1 ? ` ×${same.length}` : ""}`);
  const said = sharedText(sharedLabels(series.map(({ labels }) => labels)), encoder);
  const when = kind === "new" ? "Only after it" : "Only before it";
  return [
    `${when}: ${series.length} series, most of ${clip(byName.join(", "), 300, encoder)}${said}`,
  ];
}

function invalid(text: string): BotError {
  return new BotError("INPUT_INVALID", text);
}
