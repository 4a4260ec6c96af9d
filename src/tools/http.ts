import type { IncomingHttpHeaders } from "node:http";
import { hostOf } from "../core/canonical.ts";
import type { JsonObject } from "../core/entry.ts";
import { BotError } from "../core/errors.ts";
import { limitTime } from "../core/time-limit.ts";
import type { Network } from "../net/dial.ts";
import type { Exchange, Method } from "../net/http-exchange.ts";
import { shownUrl, urlProblem } from "../net/http-url.ts";
import type { Encoder } from "../security/encoder.ts";

/** A server that the configuration names for a tool. It is reached by its name among the tool's endpoints, never by an argument. */
export interface Endpoint {
  /** Such as `https://grafana.example.com/` or `http://10.0.3.7:9090/prometheus/`; requests go to what is below it. */
  url: string;
  /** Sent there with each request, and nowhere else. */
  credential?: Credential | undefined;
}

/** `secret` is a value that the encoder takes out of texts. */
export type Credential =
  | { kind: "bearer"; secret: string }
  | { kind: "basic"; user: string; secret: string }
  | { kind: "header"; name: string; secret: string };

export interface HttpCall {
  /** A full address of a host that an argument names; with `endpoint`, what stands below it, such as `api/health?x=1`. */
  url: string;
  endpoint?: string;
  /** Default GET. Redirects of GET and HEAD are followed, of others never. */
  method?: Method;
  /** Told to the first origin only. */
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Sent in place of `body`, as JSON. */
  json?: JsonObject;
  /** Of the response's body, received and decoded. Default 1 MiB. */
  maxBytes?: number;
  /** For everything together. Default 15 000. */
  timeoutMs?: number;
}

/** Whatever its status is. */
export interface HttpResponse {
  /** Where it came from, after redirects. */
  url: string;
  status: number;
  /** Names in lower case. */
  headers: IncomingHttpHeaders;
  /** The decoded body; empty when it is not text. Not redacted, but for what a cut could part. */
  text: string;
  /** False when the body was longer than `maxBytes`. */
  isWhole: boolean;
  /** Why its redirect was not followed. */
  stuck: string | undefined;
}

/** What requests of a call are made by. */
export interface HttpParts {
  tool: { name: string; endpoints?: Readonly<Record<string, Endpoint>> };
  signal: AbortSignal;
  /** To hosts that the call may reach, endpoints included. */
  dial: Network["dial"];
  encoder: Encoder;
  /** Why the call may not go on from one URL to another, or undefined. */
  permit(from: URL, next: URL): Promise<string | undefined>;
}

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 15_000;

/** `ToolContext.http`. */
export async function requestHttp(parts: HttpParts, call: HttpCall): Promise<HttpResponse> {
  const { signal, dial, encoder } = parts;
  const { method = "GET", maxBytes = MAX_BYTES, timeoutMs = TIMEOUT_MS, json } = call;
  const { url, permit, headers: credential } = targetOf(parts, call);
  const limit = limitTime(signal, timeoutMs / 1_000);
  const type = json === undefined ? {} : { "content-type": "application/json" };
  // Loading it takes milliseconds, which a start without a request should not pay.
  const { visit } = await import("../net/http-visit.ts");
  const { hops, stuck } = await visit(
    {
      method,
      url,
      headers: { ...type, ...call.headers, ...credential },
      body: json === undefined ? call.body : JSON.stringify(json),
      follows: () => method === "GET" || method === "HEAD",
      permit,
    },
    { dial, signal, limit, maxBytes, trusted: true },
  );
  const last = hops.at(-1);
  const problem = last?.problem ?? last?.answer?.body.damage;
  if (last?.answer === undefined || problem !== undefined) {
    throw failure(last, problem ?? "nothing was requested", limit.signal.aborted);
  }
  const { status, headers, body } = last.answer;
  const { isWhole } = body;
  // Half a secret at the cut would not be found any more.
  const text = isWhole
    ? body.text
    : await encoder.aside.encodeCut(body.text, { before: false, behind: true });
  return { url: last.url.href, status, headers, text, isWhole, stuck };
}

interface Target {
  url: URL;
  headers: Readonly<Record<string, string>>;
  permit(next: URL): Promise<string | undefined>;
}

function targetOf({ tool, permit }: HttpParts, { url: written, endpoint: name }: HttpCall): Target {
  if (name === undefined) {
    const problem = urlProblem(written);
    if (problem !== undefined)
      throw new BotError("INPUT_INVALID", `${JSON.stringify(written)} ${problem}.`);
    const url = new URL(written);
    return { url, headers: {}, permit: (next) => permit(url, next) };
  }
  const endpoint = tool.endpoints?.[name];
  if (endpoint === undefined) throw new TypeError(`${tool.name} declares no endpoint ${name}.`);
  const base = baseOf(endpoint);
  const url = URL.parse(written, base.href);
  if (url === null || !isBelow(url, base)) {
    const text = `${JSON.stringify(written)} does not lead to a place below ${base.href}.`;
    throw new BotError("INPUT_INVALID", text);
  }
  return {
    url,
    headers: headerOf(endpoint.credential),
    permit: async (next) =>
      isBelow(next, base) ? undefined : `The configuration only names ${base.href}`,
  };
}

function baseOf({ url }: Endpoint): URL {
  return new URL(url.endsWith("/") ? url : `${url}/`);
}

/** Two dots as a step, behind a slash that some servers and proxies decode, or before a path parameter that they cut off. */
const HIDDEN_CLIMB = /(?:[/;]|%2f|%5c)(?:\.|%2e){2}(?:[/;]|%2f|%5c|$)/i;

function isBelow(url: URL, base: URL): boolean {
  return (
    url.origin === base.origin &&
    url.pathname.startsWith(base.pathname) &&
    !HIDDEN_CLIMB.test(url.pathname) &&
    url.username + url.password === ""
  );
}

function headerOf(credential: Credential | undefined): Record<string, string> {
  switch (credential?.kind) {
    case undefined:
      return {};
    case "bearer":
      return { authorization: `Bearer ${credential.secret}` };
    case "basic": {
      const pair = Buffer.from(`${credential.user}:${credential.secret}`);
      return { authorization: `Basic ${pair.toString("base64")}` };
    }
    case "header":
      return { [credential.name.toLowerCase()]: credential.secret };
  }
}

/** A read that failed may be tried again; a write that was sent may have happened, and its error says so by its code. */
function failure(last: Exchange | undefined, problem: string, isLate: boolean): BotError {
  const isRead = last?.method === "GET" || last?.method === "HEAD";
  const cut = isLate ? "TIMEOUT" : isRead ? "CONNECTION_FAILED" : "ABORTED";
  const request = last === undefined ? "" : `${last.method} ${shownUrl(last.url)}: `;
  return new BotError(last?.isSent === true ? cut : "CONNECTION_FAILED", `${request}${problem}`);
}

/** The hosts that the configuration names for a tool, as arguments of kind `url`. */
export function endpointHosts(tool: HttpParts["tool"]): string[] {
  return Object.values(tool.endpoints ?? {}).map((endpoint) => hostOf(baseOf(endpoint)));
}

/**
 * Every endpoint has an address, and no credential is one that texts may show.
 * @throws BotError CONFIG_INVALID
 */
export function checkEndpoints(tools: readonly HttpParts["tool"][], { hide }: Encoder): void {
  for (const { name, endpoints = {} } of tools) {
    for (const [key, { url, credential }] of Object.entries(endpoints)) {
      const problem = urlProblem(url) ?? (/[?#]/.test(url) ? "has more than a path" : undefined);
      if (problem !== undefined)
        throw new BotError("CONFIG_INVALID", `${name}: the address of ${key} ${problem}.`);
      if (credential !== undefined && hide(`(${credential.secret})`).includes(credential.secret)) {
        const text = `${name}: the credential for ${key} is not among the secrets that are taken out of texts.`;
        throw new BotError("CONFIG_INVALID", text);
      }
    }
  }
}
