import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

/** Loki, Elasticsearch and VictoriaLogs as far as `search_logs` uses them, by their documented HTTP APIs. */

interface FakeLine {
  /** ns since 1970 */
  at: bigint;
  labels: Record<string, string>;
  line: string;
}

export interface FakeLogs {
  lines: FakeLine[];
  /** The Authorization header that it takes. */
  authorization?: string;
  /** The tenant that Loki wants named. */
  tenant?: string;
  /** Lines of one answer; Loki refuses to give more, Elasticsearch too. */
  maxLines: number;
  /** Of Elasticsearch's. */
  failedShards?: number;
  /** Each request, as it came. */
  requests: string[];
}

export function noLogs(): FakeLogs {
  return { lines: [], maxLines: 5_000, requests: [] };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json" }).end(text);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

interface Asked {
  url: URL;
  method: string;
  body: string;
}

function serve(
  fake: FakeLogs,
  answer: (asked: Asked, request: IncomingMessage, response: ServerResponse) => void,
  refusal: unknown,
): RequestListener {
  return (request, response) => {
    void bodyOf(request).then((body) => {
      const { url = "", method = "", headers } = request;
      fake.requests.push(`${method} ${decodeURIComponent(url)} ${body}`);
      if (fake.authorization !== undefined && headers.authorization !== fake.authorization)
        return send(response, 401, refusal);
      return answer({ url: new URL(url, "http://x"), method, body }, request, response);
    });
  };
}

function newestFirst(lines: readonly FakeLine[]): FakeLine[] {
  return lines.toSorted((a, b) => (a.at > b.at ? -1 : Number(a.at < b.at)));
}

const MATCHER = /([a-z_]\w*)\s*(=~|=)\s*"((?:[^"\\]|\\.)*)"/gi;

export function serveLoki(fake: FakeLogs): RequestListener {
  return serve(
    fake,
    ({ url, method }, request, response) => {
      if (fake.tenant !== undefined && request.headers["x-scope-orgid"] !== fake.tenant)
        return send(response, 401, "no org id\n");
      if (method !== "GET") return send(response, 405, "");
      const [start, end] = ["start", "end"].map((name) =>
        BigInt(url.searchParams.get(name) ?? "0"),
      ) as [bigint, bigint];
      const within = fake.lines.filter(({ at }) => at >= start && at < end);
      const names = [...new Set(within.flatMap(({ labels }) => Object.keys(labels)))];
      if (url.pathname === "/loki/api/v1/labels")
        return send(response, 200, { status: "success", data: names });
      const [, label] = /^\/loki\/api\/v1\/label\/([^/]+)\/values$/.exec(url.pathname) ?? [];
      if (label !== undefined) {
        const values = within.flatMap(({ labels }) => labels[label] ?? []);
        return send(response, 200, { status: "success", data: [...new Set(values)] });
      }
      if (url.pathname !== "/loki/api/v1/query_range")
        return send(response, 404, "404 page not found\n");
      return lokiRange(fake, within, url.searchParams, response);
    },
    "Unauthorized",
  );
}

function lokiRange(
  fake: FakeLogs,
  within: readonly FakeLine[],
  asked: URLSearchParams,
  response: ServerResponse,
): void {
  const query = asked.get("query") ?? "";
  const limit = Number(asked.get("limit") ?? "100");
  if (limit > fake.maxLines)
    return send(
      response,
      400,
      `max entries limit per query exceeded, limit > max_entries_limit_per_query (${limit} > ${fake.maxLines})`,
    );
  if (query.startsWith("sum"))
    return send(response, 200, { status: "success", data: { resultType: "matrix", result: [] } });
  const [, selector, rest = ""] = /^\{(.*?)\}(.*)$/s.exec(query) ?? [];
  if (selector === undefined)
    return send(response, 400, "parse error at line 1, col 1: syntax error: unexpected IDENTIFIER");
  const matchers = [...selector.matchAll(MATCHER)];
  if (matchers.every(([, , , value]) => value === ".*"))
    return send(
      response,
      400,
      "parse error : queries require at least one regexp or equality matcher that does not have an empty-compatible value",
    );
  const [, words] = /^\s*\|=\s*"(.*)"$/.exec(rest) ?? [];
  const found = within.filter(
    ({ labels, line }) =>
      matchers.every(([, name = "", sign, value = ""]) =>
        sign === "="
          ? labels[name] === value
          : new RegExp(`^(?:${value})$`).test(labels[name] ?? ""),
      ) &&
      (words === undefined || line.includes(words)),
  );
  const streams = Map.groupBy(newestFirst(found).slice(0, limit), ({ labels }) =>
    JSON.stringify(labels),
  );
  const result = [...streams].map(([stream, lines]) => ({
    stream: JSON.parse(stream) as unknown,
    values: lines.map(({ at, line }) => [String(at), line]),
  }));
  return send(response, 200, { status: "success", data: { resultType: "streams", result } });
}

interface Search {
  size: number;
  aggs?: { services: { terms: { field: string } } };
  query: { range?: Range; bool?: { filter: Filter[] } };
}
interface Range {
  "@timestamp": { gte: string | number; lt: string | number; format: string };
}
interface Filter {
  range?: Range;
  term?: Record<string, string>;
  query_string?: { query: string };
}

export function serveElasticsearch(fake: FakeLogs): RequestListener {
  return serve(
    fake,
    ({ url, method, body }, _request, response) => {
      const [, index = "", what] = /^\/([^/]+)\/(_\w+)$/.exec(url.pathname) ?? [];
      const field = (name: string) => ({
        keyword: { type: name, searchable: true, aggregatable: true },
      });
      if (index === "secret")
        return send(response, 403, {
          error: {
            root_cause: [{ type: "security_exception", reason: "no permissions for [secret]" }],
            type: "security_exception",
          },
          status: 403,
        });
      if (what === "_field_caps" && method === "GET") {
        const hasTime = fake.lines.length > 0;
        const fields = hasTime
          ? { "@timestamp": { date: { aggregatable: true } }, "service.name": field("keyword") }
          : {};
        return send(response, 200, { indices: ["logs-1"], fields });
      }
      if (what !== "_search" || method !== "POST")
        return send(response, 405, { error: `Incorrect HTTP method for uri [${url.pathname}]` });
      const asked = JSON.parse(body) as Search;
      if (asked.size > 10_000 || asked.size > fake.maxLines * 2)
        return send(response, 400, {
          error: {
            root_cause: [{ reason: "Result window is too large" }],
            type: "illegal_argument_exception",
          },
        });
      return elasticsearchHits(fake, asked, response);
    },
    {
      error: {
        root_cause: [{ type: "security_exception", reason: "missing authentication credentials" }],
        type: "security_exception",
      },
      status: 401,
    },
  );
}

function elasticsearchHits(fake: FakeLogs, asked: Search, response: ServerResponse): void {
  const filters = asked.query.bool?.filter ?? ([{ range: asked.query.range }] as Filter[]);
  const found = fake.lines.filter(({ at, labels, line }) =>
    filters.every(({ range, term, query_string: words }) => {
      const ms = Number(at / 1_000_000n);
      if (range !== undefined) {
        const { gte, lt, format } = range["@timestamp"];
        return format === "epoch_millis" && ms >= Number(gte) && ms < Number(lt);
      }
      if (words !== undefined) return line.includes(words.query);
      return Object.entries(term ?? {}).every(([name, value]) => labels[name] === value);
    }),
  );
  const services = [...new Set(found.map(({ labels }) => labels["service.name"]))];
  const places = new Map(fake.lines.map((line, place) => [line, String(place)]));
  const hits = newestFirst(found)
    .slice(0, asked.size)
    .map((hit) => ({
      _index: "logs-1",
      _id: places.get(hit),
      _source: {
        message: hit.line,
        service: { name: hit.labels["service.name"] },
        log: { level: hit.labels["level"] },
      },
      sort: [Number(hit.at / 1_000_000n)],
    }));
  return send(response, 200, {
    took: 3,
    timed_out: false,
    _shards: { total: 5, successful: 5, skipped: 0, failed: fake.failedShards ?? 0 },
    hits: { hits },
    ...(asked.aggs && {
      aggregations: { services: { buckets: services.map((key) => ({ key, doc_count: 1 })) } },
    }),
  });
}

export function serveVictoriaLogs(fake: FakeLogs): RequestListener {
  return serve(
    fake,
    ({ url }, _request, response) => {
      const asked = url.searchParams;
      const [start, end] = ["start", "end"].map((name) => BigInt(asked.get(name) ?? "0")) as [
        bigint,
        bigint,
      ];
      const within = fake.lines.filter(({ at }) => at >= start && at <= end);
      const values = (all: readonly (string | undefined)[]) => ({
        values: [...new Set(all)].map((value) => ({ value, hits: 1 })),
      });
      const path = url.pathname.replace("/select/logsql/", "");
      if (path === "field_names")
        return send(response, 200, values(within.flatMap(({ labels }) => Object.keys(labels))));
      if (path === "field_values") {
        const field = asked.get("field") ?? "";
        return send(response, 200, values(within.map(({ labels }) => labels[field])));
      }
      if (path !== "query")
        return send(response, 400, `unsupported path requested: "${url.pathname}"`);
      const query = asked.get("query") ?? "";
      if (/[({"]$/.test(query))
        return send(response, 400, `cannot parse query [${query}]: missing ')'`);
      const [, name = "", value] = /^"(.*)":="(.*)"$/.exec(asked.get("extra_filters") ?? "") ?? [];
      const found = within.filter(
        ({ labels, line }) =>
          (value === undefined || labels[name] === value) &&
          (query === "*" || line.includes(query)),
      );
      const lines = newestFirst(found)
        .slice(0, Number(asked.get("limit")))
        .map(({ at, labels, line }) => {
          const time = new Date(Number(at / 1_000_000n)).toISOString().slice(0, 19);
          const fraction = String(at % 1_000_000_000n).padStart(9, "0");
          return JSON.stringify({
            _time: `${time}.${fraction}Z`,
            _msg: line,
            _stream_id: "1",
            ...labels,
          });
        });
      response.writeHead(200, { "content-type": "application/stream+json" });
      return response.end(lines.map((line) => `${line}\n`).join(""));
    },
    "Unauthorized",
  );
}
