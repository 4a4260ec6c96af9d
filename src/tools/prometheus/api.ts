import { isRecord, tryParse } from "../decode.ts";
import { type Labels, labelsOf } from "../labels.ts";
import { oneLine, shortened } from "../../core/text.ts";
import { ONLY } from "../instances.ts";
import { Refusal } from "../refusal.ts";
import type { ToolContext } from "../tool.ts";

/** The HTTP API that Prometheus and VictoriaMetrics share: https://prometheus.io/docs/prometheus/latest/querying/api/ */

/** One series; of an instant query with one point. */
export interface Series {
  labels: Labels;
  /** ms since 1970, ascending. */
  times: number[];
  values: number[];
}

type Params = readonly (readonly [name: string, value: string | number])[];

/** Of one answer. Parsing more would hold up everybody else. */
const MAX_BYTES = 6 * 1024 * 1024;
/** What the server is asked to give up after, so that it does not go on for nobody. */
const SERVER_SECONDS = 20;
export const TOOL_TIMEOUT_MS = 60_000;

export interface Prometheus {
  /** The answer's `data`. @throws Refusal, BotError as `ToolContext.http` */
  get(path: string, params?: Params): Promise<unknown>;
  /** An instant query. @throws as `get`; TooMuch */
  instant(query: string, at: number): Promise<QueryData>;
  range(query: string, range: Range): Promise<Series[]>;
}

interface Range {
  /** ms since 1970. */
  start: number;
  end: number;
  stepMs: number;
}

/** What a query came to: series, or the text that it is. */
export type QueryData = Series[] | string;

/** The answer is larger than what is read of one. */
export class TooMuch extends Error {}

export function createPrometheus(ctx: ToolContext, instance: string): Prometheus {
  const who = instance === ONLY ? "Prometheus" : instance;

  async function get(path: string, params: Params = []): Promise<unknown> {
    const query = params
      .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
      .join("&");
    const { status, text, isWhole, stuck } = await ctx.http({
      endpoint: instance,
      url: `api/v1/${path}${query === "" ? "" : `?${query}`}`,
      maxBytes: MAX_BYTES,
      timeoutMs: (SERVER_SECONDS + 5) * 1_000,
    });
    if (!isWhole) throw new TooMuch(`more than ${MAX_BYTES / 1_024 / 1_024} MiB`);
    const body = tryParse(text);
    if (isRecord(body) && body["status"] === "success") return body["data"];
    throw refusal({ who, instance, status, body, text, stuck });
  }

  return {
    get,
    async instant(query, at) {
      const time = at / 1_000;
      const data = await get("query", [
        ["query", query],
        ["time", time],
        ["timeout", `${SERVER_SECONDS}s`],
      ]);
      return answerOf(data);
    },
    async range(query, { start, end, stepMs }) {
      const data = await get("query_range", [
        ["query", query],
        ["start", start / 1_000],
        ["end", end / 1_000],
        ["step", stepMs / 1_000],
        ["timeout", `${SERVER_SECONDS}s`],
      ]);
      const answer = answerOf(data);
      return typeof answer === "string" ? [] : answer;
    },
  };
}

interface Answered {
  who: string;
  instance: string;
  status: number;
  body: unknown;
  text: string;
  stuck: string | undefined;
}

/** Of why a request was refused: a query can stand in it. */
const MAX_SAID = 1_000;

function refusal({ who, instance, status, body, text, stuck }: Answered): Refusal {
  const said = isRecord(body) && typeof body["error"] === "string" ? body["error"] : oneLine(text);
  const words = said === "" ? (stuck ?? "nothing more") : shortened(oneLine(said), MAX_SAID);
  if (status === 401 || status === 403) {
    const why = `${who} refused with ${status}`;
    return new Refusal(`${why}: ${words}`, {
      what: `what ${who} knows`,
      why,
      help:
        instance === ONLY
          ? "Set PROMETHEUS_TOKEN, or PROMETHEUS_USER and PROMETHEUS_PASSWORD, to an account that may read api/v1."
          : `Let the account of integrations.prometheus.${instance} read api/v1.`,
    });
  }
  if (isRecord(body)) return new Refusal(`${who}: ${words}`);
  return new Refusal(
    `${who} answered ${status}, and not as Prometheus does: ${words.slice(0, 200)}`,
  );
}

/** @throws Refusal for an answer in another form */
function answerOf(data: unknown): QueryData {
  const { resultType, result } = isRecord(data) ? data : {};
  if (resultType === "string" && Array.isArray(result)) return String(result[1]);
  if (resultType === "scalar") return [seriesOf({}, [result])];
  if (Array.isArray(result) && (resultType === "vector" || resultType === "matrix")) {
    return result.map((each: unknown) => {
      const { metric, value, values } = isRecord(each) ? each : {};
      return seriesOf(metric, Array.isArray(values) ? values : value === undefined ? [] : [value]);
    });
  }
  throw new Refusal("The server answered in a form that Prometheus does not have.");
}

/** By hand, not by a schema: there may be 100 000 points, and the event loop waits for them. */
function seriesOf(metric: unknown, points: readonly unknown[]): Series {
  const times: number[] = [];
  const values: number[] = [];
  for (const point of points) {
    const [time, value]: unknown[] = Array.isArray(point) ? point : [];
    if (typeof time !== "number" || typeof value !== "string") continue;
    times.push(Math.round(time * 1_000));
    values.push(numberOf(value));
  }
  return { labels: labelsOf(metric), times, values };
}

function numberOf(text: string): number {
  if (text === "+Inf") return Number.POSITIVE_INFINITY;
  return text === "-Inf" ? Number.NEGATIVE_INFINITY : Number(text);
}

/** The value of the only series, as of a count; 0 without one. */
export function onlyValue(answer: QueryData): number {
  return typeof answer === "string" ? 0 : (answer[0]?.values[0] ?? 0);
}

/** `"a\"b"`: a value as PromQL quotes it. */
export function promQuote(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
