import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

/**
 * Prometheus' HTTP API as far as the tools use it, with the answers of the real one (2.42) to wrong parameters, to which
 * `test/real/prometheus.real.ts` holds it. It knows no PromQL: a test says what its queries come to.
 */
export interface FakePrometheus {
  /** A vector, unless the query makes something else. */
  instant?(query: string, at: number): Point[] | Result;
  range?(query: string, range: { start: number; end: number; step: number }): Line[];
  metrics?: Record<string, { type: string; help: string }>;
  /** Values by label; `__name__` has the metrics' names too. */
  labels?: Record<string, string[]>;
  groups?: object[];
  targets?: object[];
  token?: string;
}

type Metric = Record<string, string>;
type Point = [metric: Metric, value: number | string];
type Line = [metric: Metric, values: [seconds: number, value: number | string][]];
/** Anything but a vector. */
interface Result {
  resultType: string;
  result: unknown;
}

class Refused extends Error {
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

/** What the paths take; the real one takes no notice of others, which would hide a mistake. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  query: ["query", "time", "timeout"],
  query_range: ["query", "start", "end", "step", "timeout"],
  labels: ["match[]", "start", "end"],
  "label/:name/values": ["match[]", "start", "end"],
  metadata: ["metric"],
  rules: [],
  targets: ["state"],
};

/** Serves it; `asked` takes each request's path and parameters. */
export function servePrometheus(fake: FakePrometheus, asked: string[] = []): RequestListener {
  return (request, response) => {
    asked.push(decodeURIComponent(request.url ?? ""));
    try {
      if (fake.token !== undefined && request.headers.authorization !== `Bearer ${fake.token}`) {
        response.writeHead(401, { "www-authenticate": "Basic" }).end("Unauthorized\n");
        return;
      }
      send(response, 200, { status: "success", data: answer(fake, request) });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.status === 404) response.writeHead(404).end("404 page not found\n");
      else
        send(response, error.status, {
          status: "error",
          errorType: "bad_data",
          error: error.message,
        });
    }
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function answer(fake: FakePrometheus, { url = "", method }: IncomingMessage): unknown {
  const { pathname, searchParams } = new URL(url, "http://localhost");
  const path = pathname.replace(/^.*\/api\/v1\//, "");
  const label = /^label\/([^/]+)\/values$/.exec(path)?.[1];
  const name = label === undefined ? path : "label/:name/values";
  const known = PARAMETERS[name];
  if (known === undefined || method !== "GET") throw new Refused("", 404);
  for (const parameter of searchParams.keys())
    if (!known.includes(parameter)) throw new Error(`${path} takes no ${parameter}`);
  const get = (parameter: string) => searchParams.get(parameter) ?? "";
  for (const selector of searchParams.getAll("match[]")) checkQuery(selector, "");
  switch (name) {
    case "query":
      return instant(fake, get);
    case "query_range":
      return range(fake, get);
    case "labels":
      return ["__name__", ...Object.keys(fake.labels ?? {})];
    case "metadata":
      return metadata(fake, get("metric"));
    case "rules":
      return { groups: fake.groups ?? [] };
    case "targets":
      return { activeTargets: fake.targets ?? [], droppedTargets: [] };
    default:
      return valuesOf(fake, decodeURIComponent(label ?? ""));
  }
}

function valuesOf({ metrics = {}, labels = {} }: FakePrometheus, label: string): string[] {
  if (!/^[a-zA-Z_]\w*$/.test(label)) throw new Refused(`invalid label name: "${label}"`);
  return label === "__name__" ? Object.keys(metrics) : (labels[label] ?? []);
}

function metadata({ metrics = {} }: FakePrometheus, metric: string): object {
  const told = Object.entries(metrics).filter(([name]) => metric === "" || name === metric);
  return Object.fromEntries(told.map(([name, about]) => [name, [{ ...about, unit: "" }]]));
}

type Get = (parameter: string) => string;

function instant(fake: FakePrometheus, get: Get): unknown {
  if (get("time") !== "" && Number.isNaN(Number(get("time")))) {
    const said = `Invalid time value for 'time': cannot parse "${get("time")}" to a valid timestamp`;
    throw new Refused(`invalid parameter "time": ${said}`);
  }
  duration(get, "timeout", true);
  checkQuery(get("query"), 'invalid parameter "query": ');
  const time = Number(get("time"));
  const made = fake.instant?.(get("query"), time) ?? [];
  if (!Array.isArray(made)) return made;
  const result = made.map(([metric, value]) => ({ metric, value: [time, String(value)] }));
  return { resultType: "vector", result };
}

function range(fake: FakePrometheus, get: Get): unknown {
  const [start, end] = [Number(get("start")), Number(get("end"))];
  if (end < start)
    throw new Refused('invalid parameter "end": end timestamp must not be before start time');
  const step = duration(get, "step");
  if (step <= 0) {
    const said =
      "zero or negative query resolution step widths are not accepted. Try a positive integer";
    throw new Refused(`invalid parameter "step": ${said}`);
  }
  if ((end - start) / step > 11_000) {
    const said =
      "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)";
    throw new Refused(said);
  }
  duration(get, "timeout", true);
  checkQuery(get("query"), 'invalid parameter "query": ');
  const made = fake.range?.(get("query"), { start, end, step }) ?? [];
  const result = made.map(([metric, values]) => ({
    metric,
    values: values.map(([seconds, value]) => [seconds, String(value)]),
  }));
  return { resultType: "matrix", result };
}

function duration(get: Get, parameter: string, isOptional = false): number {
  const text = get(parameter);
  if (text === "" && isOptional) return 0;
  const [, count, unit] = /^(-?\d+(?:\.\d+)?)(ms|[smhdwy])?$/.exec(text) ?? [];
  if (count === undefined) {
    throw new Refused(
      `invalid parameter "${parameter}": cannot parse "${text}" to a valid duration`,
    );
  }
  return Number(count) * (unit === "ms" ? 0.001 : unit === "m" ? 60 : 1);
}

/** The few mistakes whose words were recorded. */
function checkQuery(query: string, prefix: string): void {
  if (query === "") throw new Refused(`${prefix}1:1: parse error: no expression found in input`);
  if (/^\w+\{$/.test(query)) {
    const at = `1:${query.length + 1}`;
    throw new Refused(`${prefix}${at}: parse error: unexpected end of input inside braces`);
  }
  if (/^rate\(\w+\)$/.test(query)) {
    const said = 'expected type range vector in call to function "rate", got instant vector';
    throw new Refused(`${prefix}1:6: parse error: ${said}`);
  }
}
