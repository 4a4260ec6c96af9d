import type { IncomingHttpHeaders, RequestListener, ServerResponse } from "node:http";

/** What strict fakes of JSON services share: a table of routes, and nothing beside it. */

export interface Asked {
  method: string;
  /** Below the API's address, without the query. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** Undefined: it had no body, or one that is no JSON. */
  json: Record<string, unknown> | undefined;
}

export interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

interface Route {
  method: string;
  path: RegExp;
  /** The parameters of the query that the service documents; another one is a mistake of ours. */
  query?: readonly string[];
  answer(asked: Asked, parts: readonly string[]): Answer;
}

export const route = (
  method: string,
  path: RegExp,
  query: readonly string[],
  answer: Route["answer"],
): Route => ({ method, path, query, answer });

export function serveRest(options: {
  /** What stands before each path. */
  base?: string;
  /** Why a request is refused before anything is looked at, or undefined. */
  guard(asked: Asked): Answer | undefined;
  routes: readonly Route[];
  unknown(asked: Asked): Answer;
  keep?(asked: Asked): void;
}): RequestListener {
  const { base = "/", guard, routes, unknown, keep } = options;
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const { pathname, searchParams: query } = new URL(url, "http://localhost");
      const text = Buffer.concat(chunks).toString();
      const json = jsonOf(text, headers["content-type"]);
      const asked: Asked = { method, path: pathname.slice(base.length), query, headers, json };
      keep?.(asked);
      send(response, guard(asked) ?? answerOf(routes, asked, unknown));
    });
  };
}

function answerOf(
  routes: readonly Route[],
  asked: Asked,
  unknown: (asked: Asked) => Answer,
): Answer {
  for (const { method, path, query = [], answer } of routes) {
    const found = path.exec(asked.path);
    if (found === null || method !== asked.method) continue;
    const strange = [...asked.query.keys()].filter((name) => !query.includes(name));
    if (strange.length > 0)
      return { status: 400, body: `the fake knows no parameter ${strange.join(", ")}` };
    return answer(asked, found.slice(1).map(decodeURIComponent));
  }
  return unknown(asked);
}

function jsonOf(text: string, type = ""): Record<string, unknown> | undefined {
  if (text === "" || !type.startsWith("application/json")) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  const isText = typeof body === "string";
  response.writeHead(status, {
    "content-type": isText ? "text/plain; charset=utf-8" : "application/json; charset=utf-8",
    ...headers,
  });
  response.end(body === undefined ? "" : isText ? body : JSON.stringify(body));
}

/**
 * A page of a list with the Link header of RFC 8288, as GitHub and GitLab make it: by the address that they know themselves by,
 * which need not be the one that they were asked at.
 */
export function pageOf(
  { query, path }: Asked,
  items: readonly unknown[],
  { base = "/", key }: { base?: string; key?: string } = {},
): Answer {
  const size = Number(query.get("per_page") ?? "30");
  const page = Number(query.get("page") ?? "1");
  const shown = items.slice((page - 1) * size, page * size);
  const next = new URL(`https://forge.example.com${base}${path}?${query.toString()}`);
  next.searchParams.set("page", String(page + 1));
  const isLast = page * size >= items.length;
  return {
    status: 200,
    body: key === undefined ? shown : { total_count: items.length, [key]: shown },
    headers: isLast ? {} : { link: `<${next.href}>; rel="next", <${next.href}>; rel="last"` },
  };
}
