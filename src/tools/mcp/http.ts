import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { withoutBrackets } from "../../core/canonical.ts";
import { BotError, isBotError, messageOf } from "../../core/errors.ts";
import type { Network } from "../../net/dial.ts";
import { openStream } from "../../net/http-stream.ts";
import { dialEndpoint, type Endpoint, schemeOf } from "../http.ts";
import type { OpenTransport } from "./connection.ts";
import { MAX_MESSAGE_BYTES } from "./stdio.ts";

/** An answer may be followed by its progress. */
const MAX_ANSWER_BYTES = 2 * MAX_MESSAGE_BYTES;
/** A stream that ends before its answer is taken up again, which a server could make us do for ever. */
const MAX_RESUMED = 20;
/** What is asked for a login is short. */
const MAX_LOGIN_BYTES = 256 * 1024;
const LOGIN_MS = 15_000;

/** What shows a server who we are. */
export interface Authorizer {
  /** What stands behind `Bearer`. @throws BotError NOT_AVAILABLE, which says what to do */
  token(signal: AbortSignal): Promise<string>;
  /** Another in place of one that the server answered 401 or 403. @throws BotError NOT_AVAILABLE, CONNECTION_FAILED */
  renewed(used: string, answer: Response, signal: AbortSignal): Promise<string>;
  /** For people: until when it holds, or what to do. */
  state(): Promise<string>;
  /** What no text may show. */
  secrets(): readonly { name: string; value: string }[];
}

export interface HttpServer {
  endpoint: Endpoint;
  authorizer?: Authorizer | undefined;
  network(): Network;
}

/** Streamable HTTP over our own connections. */
export function openHttp(server: HttpServer): OpenTransport {
  return async (_signal, ended) => {
    const { StreamableHTTPClientTransport } =
      await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const fetch = createFetch(server, async (error) => {
      ended(new BotError("CONNECTION_FAILED", messageOf(error)));
      await transport.close();
    });
    const transport = new StreamableHTTPClientTransport(new URL(server.endpoint.url), { fetch });
    return transport;
  };
}

/** `broken` is told when an answer is cut off. */
function createFetch(
  { endpoint, authorizer, network }: HttpServer,
  broken: (error: unknown) => Promise<void>,
): FetchLike {
  const own = new URL(endpoint.url);
  let resumed = 0;
  return async (target, init = {}) => {
    const url = new URL(target);
    const method = init.method ?? "GET";
    if (url.origin !== own.origin) throw elsewhere(own, url);
    const isMessages = url.pathname === own.pathname;
    if (isMessages && method === "POST") resumed = 0;
    // Nobody waits for what a server says unasked: such a stream would only hold a connection.
    const isResumed = new Headers(init.headers).has("last-event-id");
    const isUnasked = isMessages && method === "GET" && !isResumed;
    if (isUnasked || (isMessages && method === "GET" && ++resumed > MAX_RESUMED))
      return new Response(null, { status: 405 });
    const signal = init.signal ?? AbortSignal.timeout(30_000);
    const ask = async (token: string | undefined) =>
      request(url, init, {
        dial: (limit) => dialEndpoint(network(), endpoint, limit),
        tls: endpoint.tls,
        token,
        signal,
        maxBytes: MAX_ANSWER_BYTES,
      });
    const token = (await authorizer?.token(signal)) ?? bearerOf(endpoint);
    let answer = await ask(token);
    if (authorizer !== undefined && token !== undefined && isRefusal(answer)) {
      await answer.body?.cancel();
      answer = await ask(await authorizer.renewed(token, answer, signal));
    }
    if (!isMessages || answer.body === null) return answer;
    const { status, headers: answered } = answer;
    return new Response(reporting(answer.body, broken), { status, headers: answered });
  };
}

function elsewhere(own: URL, { origin }: URL, help = ""): BotError {
  const text = `${own.host} leads to ${origin}, where no login may be sent${help}`;
  return new BotError("ADDRESS_REFUSED", text);
}

/** Another token may help. */
function isRefusal({ status, headers }: Response): boolean {
  const why = headers.get("www-authenticate") ?? "";
  return status === 401 || (status === 403 && why.includes("insufficient_scope"));
}

function bearerOf({ credential }: Endpoint): string | undefined {
  return typeof credential === "object" && credential.kind === "bearer"
    ? credential.secret
    : undefined;
}

export interface LoginFetch extends Pick<HttpServer, "endpoint" | "network"> {
  /** Origins of authorization servers that the configuration names. */
  named: readonly string[];
  /** Whether another origin may be asked, which the server or its authorization server named. */
  permits(origin: string): boolean | Promise<boolean>;
  signal: AbortSignal;
}

/**
 * For what a login asks: the server itself, authorization servers that the configuration names, and others that somebody permitted,
 * which then are reached by https at public addresses, or what `network.allow` names.
 * @throws BotError ADDRESS_REFUSED for all others
 */
export function createLoginFetch(parts: LoginFetch): FetchLike {
  const { endpoint, network, named, permits, signal } = parts;
  const own = new URL(endpoint.url);
  return async (target, init = {}) => {
    const url = new URL(target);
    const { origin } = url;
    const isOwn = origin === own.origin;
    const configured = named.includes(origin);
    const isPermitted =
      isOwn || configured || (url.protocol === "https:" && (await permits(origin)));
    if (!isPermitted) throw elsewhere(own, url, "; name it in `oauth.servers` if it may");
    return request(url, init, {
      dial: (limit) =>
        isOwn
          ? dialEndpoint(network(), endpoint, limit)
          : network().dial(withoutBrackets(url.hostname), portOf(url), {
              signal: limit,
              configured,
              foreign: !configured,
              scheme: schemeOf(url),
            }),
      tls: isOwn ? endpoint.tls : undefined,
      token: undefined,
      signal: AbortSignal.any([signal, AbortSignal.timeout(LOGIN_MS)]),
      maxBytes: MAX_LOGIN_BYTES,
    });
  };
}

type Terms = Parameters<typeof openStream>[1] & { token: string | undefined };

async function request(url: URL, init: RequestInit, { token, ...terms }: Terms): Promise<Response> {
  const headers = Object.fromEntries(new Headers(init.headers));
  if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
  const body = await textOf(init.body);
  return openStream({ method: init.method ?? "GET", url, headers, body }, terms);
}
/** Messages are texts, and forms of OAuth. */
async function textOf(body: RequestInit["body"]): Promise<string | undefined> {
  return body === undefined || body === null ? undefined : new Response(body).text();
}

function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === "https:" ? 443 : 80);
}

/** The same stream, whose errors are told also when nobody waits for them. */
function reporting(body: ReadableStream<Uint8Array>, broken: (error: unknown) => Promise<void>) {
  const reader = body.getReader();
  let isUnwanted = false;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        if (isUnwanted) return;
        controller.error(error);
        if (!isBotError(error, "ABORTED")) await broken(error);
      }
    },
    async cancel(reason) {
      isUnwanted = true;
      await reader.cancel(reason);
    },
  });
}
