import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject } from "../core/entry.ts";
import { BotError } from "../core/errors.ts";
import { limitTime } from "../core/time-limit.ts";
import type { Dialed, Network } from "../net/dial.ts";
import type { Exchange, Method } from "../net/http-exchange.ts";
import { shownUrl, urlProblem } from "../net/http-url.ts";
import type { Scheme } from "../net/proxy.ts";
import type { TlsTerms } from "../net/tls.ts";
import type { Encoder } from "../security/encoder.ts";

/**
 * A server that the configuration names for a tool. It is reached by its name among the tool's endpoints, never by an argument;
 * its host and port are open to that tool without an entry in `network.allow`.
 */
export interface Endpoint {
  /** Such as `https://grafana.example.com/` or `http://10.0.3.7:9090/prometheus/`; requests go to what is below it. */
  url: string;
  /** Sent there with each request, and nowhere else. */
  credential?: Credential | (() => Promise<Credential | undefined>) | undefined;
  /** How TLS is spoken with it, where this machine's own terms do not fit. */
  tls?: TlsTerms;
  /** It listens on this Unix socket; the address then only says what stands before each path. */
  socketPath?: string;
  /**
   * Hosts besides its own that its redirects may lead to, such as `*.blob.core.windows.net`: without its credential and its TLS
   * terms, and by the network's rules.
   */
  redirects?: readonly string[];
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
  /** The same for what is no text. Nothing is taken out of them: who shows text of them encodes it. */
  bytes: Uint8Array;
  /** False when the body was longer than `maxBytes`. */
  isWhole: boolean;
  /** Why its redirect was not followed. */
  stuck: string | undefined;
}

/** What requests of a call are made by. */
export interface HttpParts {
  tool: { name: string; endpoints?: Readonly<Record<string, Endpoint>> };
  signal: AbortSignal;
  /** To hosts that the call may reach. */
  dial: Network["dial"];
  network: Network;
  encoder: Encoder;
  /** Why the call may not go on from one URL to another, or undefined. */
  permit(from: URL, next: URL): Promise<string | undefined>;
}

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 15_000;

/** `ToolContext.http`. */
export async function requestHttp(parts: HttpParts, call: HttpCall): Promise<HttpResponse> {
  const { signal, encoder } = parts;
  const { method = "GET", maxBytes = MAX_BYTES, timeoutMs = TIMEOUT_MS, json } = call;
  const { url, permit, dial, tls, credential } = await targetOf(parts, call);
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
    { dial, signal, limit, maxBytes, trusted: true, tls },
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
  return { url: last.url.href, status, headers, text, bytes: body.bytes, isWhole, stuck };
}

interface Target {
  url: URL;
  dial: Network["dial"];
  tls: TlsTerms | undefined;
  credential: Readonly<Record<string, string>>;
  permit(next: URL): Promise<string | undefined>;
}

async function targetOf(
  { tool, permit, dial, network, encoder }: HttpParts,
  { url: written, endpoint: name }: HttpCall,
): Promise<Target> {
  if (name === undefined) {
    const problem = urlProblem(written);
    if (problem !== undefined)
      throw new BotError("INPUT_INVALID", `${JSON.stringify(written)} ${problem}.`);
    const url = new URL(written);
    const follow = (next: URL) => permit(url, next);
    return { url, dial, tls: undefined, credential: {}, permit: follow };
  }
  const endpoint = endpointOf(tool, name);
  const base = baseOf(endpoint);
  const url = URL.parse(written, base.href);
  if (url === null || !isBelow(url, base)) {
    const text = `${JSON.stringify(written)} does not lead to a place below ${base.href}.`;
    throw new BotError("INPUT_INVALID", text);
  }
  let isAway = false;
  return {
    url,
    dial: (host, port, limit) =>
      isAway
        ? network.dial(host, port, { signal: limit.signal, scheme: schemeOf(url) })
        : dialEndpoint(network, endpoint, limit.signal),
    tls: endpoint.tls,
    credential: headerOf(await credentialOf(endpoint, `${tool.name}.${name}`, encoder)),
    async permit(next) {
      // Once it has left, nothing it leads to is the server that the configuration names.
      isAway ||= next.origin !== base.origin;
      const isAllowed = isAway ? leadsTo(endpoint, next, base) : isBelow(next, base);
      return isAllowed ? undefined : `The configuration only names ${base.href}`;
    },
  };
}

function leadsTo({ redirects = [] }: Endpoint, next: URL, base: URL): boolean {
  return (
    next.protocol === base.protocol &&
    next.username + next.password === "" &&
    redirects.some((host) =>
      host.startsWith("*.") ? next.hostname.endsWith(host.slice(1)) : next.hostname === host,
    )
  );
}

/** @throws TypeError for one that the tool does not declare */
export function endpointOf({ name: tool, endpoints }: HttpParts["tool"], name: string): Endpoint {
  const endpoint = endpoints?.[name];
  if (endpoint === undefined) throw new TypeError(`${tool} declares no endpoint ${name}.`);
  return endpoint;
}

/** The ports of protocols whose URLs may leave them out. */
const PORTS: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "postgres:": 5432,
  "postgresql:": 5432,
  "mysql:": 3306,
  "redis:": 6379,
  "rediss:": 6379,
};

/** A connection to it, before TLS. @throws as `Network.dial` */
export function dialEndpoint(
  network: Network,
  { url, socketPath }: Endpoint,
  signal: AbortSignal,
): Promise<Dialed> {
  if (socketPath !== undefined) return network.dialSocket(socketPath, { signal });
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const call = { signal, configured: true, scheme: schemeOf({ protocol }) };
  return network.dial(host, Number(port) || (PORTS[protocol] ?? 0), call);
}

/** Undefined for what is no HTTP, and so goes through no proxy. */
export function schemeOf({ protocol }: Pick<URL, "protocol">): Scheme | undefined {
  return protocol === "http:" || protocol === "https:" ? protocol : undefined;
}

/** One that changes is held from its first use on. */
async function credentialOf(
  { credential }: Endpoint,
  name: string,
  encoder: Encoder,
): Promise<Credential | undefined> {
  if (typeof credential !== "function") return credential;
  const now = await credential();
  if (now !== undefined) encoder.learn({ name, value: now.secret });
  return now;
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

function endpointProblem(url: string): string | undefined {
  const { protocol = "http:", hostname = "" } = URL.parse(url) ?? {};
  const isOther = protocol in PORTS && !protocol.startsWith("http") && hostname !== "";
  if (!isOther) return urlProblem(url) ?? (/[?#]/.test(url) ? "has more than a path" : undefined);
  return undefined;
}

/** Shorter ones occur in ordinary text, so they could not be taken out of it. */
const MIN_CREDENTIAL = 8;

/** The credentials of a tool that are too short to be kept out of texts. */
export function shortCredentials({ endpoints = {} }: HttpParts["tool"]): string[] {
  return Object.values(endpoints).flatMap(({ credential }) =>
    typeof credential === "object" && credential.secret.length < MIN_CREDENTIAL
      ? [credential.secret]
      : [],
  );
}

/**
 * Every endpoint has an address, and no credential is one that texts may show.
 * @throws BotError CONFIG_INVALID
 */
export function checkEndpoints(tools: readonly HttpParts["tool"][], { hide }: Encoder): void {
  for (const { name, endpoints = {} } of tools) {
    for (const [key, { url, credential }] of Object.entries(endpoints)) {
      const problem = endpointProblem(url);
      if (problem !== undefined)
        throw new BotError("CONFIG_INVALID", `${name}: the address of ${key} ${problem}.`);
      if (
        typeof credential === "object" &&
        hide(`(${credential.secret})`).includes(credential.secret)
      ) {
        const fault =
          credential.secret.length < MIN_CREDENTIAL
            ? "is shorter than 8 characters, too short to be taken out of texts. Set a longer one."
            : "is not among the secrets that are taken out of texts.";
        const text = `${name}: the password or token for ${key} ${fault}`;
        throw new BotError("CONFIG_INVALID", text);
      }
    }
  }
}
