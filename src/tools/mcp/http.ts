import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { withoutBrackets } from "../../core/canonical.ts";
import { BotError, isBotError, messageOf } from "../../core/errors.ts";
import type { Network } from "../../net/dial.ts";
import { openStream } from "../../net/http-stream.ts";
import { dialEndpoint, type Endpoint } from "../http.ts";
import type { OpenTransport } from "./connection.ts";
import { MAX_MESSAGE_BYTES } from "./stdio.ts";

/** An answer may be followed by its progress. */
const MAX_ANSWER_BYTES = 2 * MAX_MESSAGE_BYTES;
/** A stream that ends before its answer is taken up again, which a server could make us do for ever. */
const MAX_RESUMED = 20;

export interface HttpServer {
  endpoint: Endpoint;
  authProvider?: OAuthClientProvider | undefined;
  network(): Network;
}

/** Streamable HTTP over our own connections. */
export function openHttp({ endpoint, authProvider, network }: HttpServer): OpenTransport {
  return async (_signal, ended) => {
    const { StreamableHTTPClientTransport } =
      await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const close = () => transport.close();
    const fetch = createFetch({ endpoint, network }, async (error) => {
      ended(new BotError("CONNECTION_FAILED", messageOf(error)));
      await close();
    });
    const transport = new StreamableHTTPClientTransport(new URL(endpoint.url), {
      fetch,
      ...(authProvider && { authProvider }),
    });
    return transport;
  };
}

/** `broken` is told when an answer is cut off. */
function createFetch(
  { endpoint, network }: Pick<HttpServer, "endpoint" | "network">,
  broken: (error: unknown) => Promise<void>,
): FetchLike {
  const own = new URL(endpoint.url);
  let resumed = 0;
  return async (target, init = {}) => {
    const url = new URL(target);
    const headers = Object.fromEntries(new Headers(init.headers));
    const isOwn = url.origin === own.origin;
    const method = init.method ?? "GET";
    const isMessages = isOwn && url.pathname === own.pathname;
    if (isMessages && method === "POST") resumed = 0;
    // Nobody waits for what a server says unasked: such a stream would only hold a connection.
    const isUnasked = isMessages && method === "GET" && headers["last-event-id"] === undefined;
    if (isUnasked || (isMessages && method === "GET" && ++resumed > MAX_RESUMED))
      return new Response(null, { status: 405 });
    const { credential, tls } = endpoint;
    if (isOwn && typeof credential === "object" && credential.kind === "bearer")
      headers["authorization"] = `Bearer ${credential.secret}`;
    const signal = init.signal ?? AbortSignal.timeout(30_000);
    const body = await textOf(init.body);
    const answer = await openStream(
      { method, url, headers, body },
      {
        // Where a server sends us, such as to who signs its users in, is reached by the rules that hold for everybody.
        dial: (limit) =>
          isOwn
            ? dialEndpoint(network(), endpoint, limit)
            : network().dial(withoutBrackets(url.hostname), portOf(url), { signal: limit }),
        tls: isOwn ? tls : undefined,
        signal,
        maxBytes: MAX_ANSWER_BYTES,
      },
    );
    if (!isMessages || answer.body === null) return answer;
    const { status, headers: answered } = answer;
    return new Response(reporting(answer.body, broken), { status, headers: answered });
  };
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
