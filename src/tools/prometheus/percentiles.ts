import * as z from "zod";
import { textsOf } from "../decode.ts";
import { BotError } from "../../core/errors.ts";
import { readPast, tryDuration } from "../../core/past.ts";
import { inQuotes } from "../../core/text.ts";
import type { Encoder } from "../../security/encoder.ts";
import { formatMoment } from "../moment.ts";
import { orRefused } from "../refusal.ts";
import { hereOf } from "../since.ts";
import { defineTool, type ToolOutput } from "../tool.ts";
import { createPrometheus, type Prometheus, TOOL_TIMEOUT_MS } from "./api.ts";
import { type Instances, lengthField, timeField } from "./fields.ts";
import { instanceArgument, instanceOf } from "../instances.ts";
import { clip, labelText, type Labels } from "../labels.ts";
import { nearest } from "../../core/nearest.ts";
import { whatIsUnknown } from "./near.ts";
import { formatValue } from "./numbers.ts";

const PERCENTILES = [50, 90, 95, 99];
const MAX_ROWS = 10;
const SELECTOR = /^([a-zA-Z_:][\w:]*?)(?:_bucket|_count|_sum)?\s*(\{[^]*\})?$/;

export function createPercentiles(instances: Instances) {
  return defineTool({
    name: "prometheus_percentiles",
    summary: "shows percentiles of a histogram beside those of the window before",
    description:
      "p50, p90, p95, p99 and events per second of a Prometheus histogram over a window, beside the window before it. Use it for latency and sizes.",
    input: z.strictObject({
      metric: z
        .string()
        .regex(SELECTOR, "expected a histogram's name, with a selector if wanted")
        .max(1_000)
        .describe("The histogram, with a selector if wanted")
        .meta({ examples: ['http_request_duration_seconds{job="api"}'] }),
      by: z
        .array(z.string().regex(/^[a-zA-Z_]\w*$/, "expected the name of a label"))
        .max(5)
        .default([])
        .describe("Labels to tell apart, such as handler")
        .meta({ examples: [["handler"]] }),
      window: lengthField.default("5m"),
      at: timeField.default("now").describe("The end of the window"),
      ...instanceArgument(instances),
    }),
    effect: "read",
    doing: ({ metric }) => `Asking Prometheus for the percentiles of ${metric}`,
    endpoints: instances,
    timeoutMs: TOOL_TIMEOUT_MS,
    run: ({ metric, by, window, at: written, instance }, ctx) =>
      orRefused(async () => {
        const here = await hereOf(ctx);
        const at = await readPast(written, here);
        const windowMs = tryDuration(window);
        if (windowMs === undefined || windowMs < 10_000)
          throw new BotError(
            "INPUT_INVALID",
            `window: ${inQuotes(window)} is not a length from 10s on, such as 5m.`,
          );
        const server = createPrometheus(ctx, instanceOf({ instance }, instances));
        const seconds = Math.round(windowMs / 1_000);
        const [, base = "", selector = ""] = SELECTOR.exec(metric) ?? [];
        const query = queryOf(base, selector, by, seconds);
        const [now, before] = await Promise.all([
          groupsOf(server, query, by, at),
          groupsOf(server, query, by, at - windowMs),
        ]);
        if (now.length === 0) return nothing(server, base, selector, ctx.encoder);
        const rows = now
          .toSorted((a, b) => rateOf(b) - rateOf(a))
          .slice(0, MAX_ROWS)
          .map((group) => {
            const earlier = before.find(({ key }) => key === group.key);
            const name = by.length === 0 ? "" : `  ${labelText(group.labels, ctx.encoder)}`;
            return `- ${rowOf(group, earlier, base)}${name}`;
          });
        const rest = now.length - rows.length;
        const head = `${base} over ${window} until ${formatMoment(at, here.now)}; in brackets the ${window} before:`;
        const more = rest > 0 ? [`and ${rest} more with fewer events`] : [];
        return { text: [clip(head, 400, ctx.encoder), ...rows, ...more].join("\n") };
      }),
  });
}

/** Which of the figures a series of the answer is. */
const FIGURE = "watchkeeper_figure";
const RATE = "rate";

/** All figures in one request. */
function queryOf(base: string, selector: string, by: readonly string[], seconds: number): string {
  const rate = (of: string, labels: readonly string[]) =>
    `sum by (${labels.join(", ")}) (rate(${base}_${of}${selector}[${seconds}s]))`;
  const named = (query: string, figure: string) =>
    `label_replace(${query}, "${FIGURE}", "${figure}", "", "")`;
  const quantiles = PERCENTILES.map((percentile) =>
    named(
      `histogram_quantile(${percentile / 100}, ${rate("bucket", ["le", ...by])})`,
      `p${percentile}`,
    ),
  );
  return [...quantiles, named(rate("count", by), RATE)].join(" or ");
}

/** The figures of one combination of labels. */
interface Group {
  key: string;
  labels: Labels;
  figures: ReadonlyMap<string, number>;
}

async function groupsOf(
  server: Prometheus,
  query: string,
  by: readonly string[],
  at: number,
): Promise<Group[]> {
  const answer = await server.instant(query, at);
  const series = typeof answer === "string" ? [] : answer;
  const parted = series.map(
    ({ labels: { [FIGURE]: figure = "", ...labels }, values: [value] }) => ({
      key: by.map((label) => labels[label] ?? "").join("\n"),
      labels,
      figure,
      value,
    }),
  );
  return [...Map.groupBy(parted, ({ key }) => key)].map(([key, same]) => ({
    key,
    labels: same[0]?.labels ?? {},
    figures: new Map(same.map(({ figure, value = Number.NaN }) => [figure, value])),
  }));
}

function rateOf({ figures }: Group): number {
  return figures.get(RATE) ?? 0;
}

/** `p50 0.12 (0.11), p90 …, 34/s (33/s)` */
function rowOf(group: Group, before: Group | undefined, base: string): string {
  // There are no percentiles of no events.
  if (rateOf(group) === 0)
    return `no events (${before === undefined ? 0 : formatValue(rateOf(before))}/s)`;
  const seconds = base.endsWith("_seconds");
  const show = (value: number | undefined) => {
    if (value === undefined || Number.isNaN(value)) return "none";
    return seconds ? `${formatValue(value)} s` : formatValue(value, base);
  };
  const figures = PERCENTILES.map((percentile) => {
    const name = `p${percentile}`;
    return `${name} ${show(group.figures.get(name))} (${show(before?.figures.get(name))})`;
  });
  const earlier = before === undefined ? 0 : rateOf(before);
  return [...figures, `${formatValue(rateOf(group))}/s (${formatValue(earlier)}/s)`].join(", ");
}

async function nothing(
  server: Prometheus,
  base: string,
  selector: string,
  encoder: Encoder,
): Promise<ToolOutput> {
  const names = textsOf(await server.get("label/__name__/values"));
  const bases = names.flatMap((name) => (name.endsWith("_bucket") ? [name.slice(0, -7)] : []));
  if (bases.includes(base)) {
    const unknown = await whatIsUnknown(server, `${base}_bucket${selector}`);
    const why = unknown.length > 0 ? unknown : ["Its series match nothing in that window."];
    return { text: clip([`No events of ${base}.`, ...why].join(" "), 1_000, encoder) };
  }
  const near = nearest(base, bases);
  const meant =
    near.length > 0 ? `Did you mean ${near.join(", ")}?` : `There are ${bases.length} histograms.`;
  const what = names.includes(base) ? "is no histogram with buckets" : "does not exist";
  return { text: clip(`${base} ${what}. ${meant}`, 1_000, encoder) };
}
