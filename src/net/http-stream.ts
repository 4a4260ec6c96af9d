import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { BotError } from "../core/errors.ts";
import { secure, type TlsTerms } from "./tls.ts";

/** A request whose answer is read while it comes. */
export interface StreamedRequest {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
}

export interface StreamTerms {
  /** A connection to the URL's host, before TLS. */
  dial(signal: AbortSignal): Promise<{ socket: Duplex }>;
  tls?: TlsTerms | undefined;
  signal: AbortSignal;
  /** Of the answer's body; what goes on longer is cut off with an error. */
  maxBytes: number;
}

/**
 * Makes one request over a connection of its own, which ends with the answer's body or the signal. The answer comes as it is: no
 * redirect is followed, nothing is unpacked.
 * @throws BotError CONNECTION_FAILED before anything was sent, and what `dial` throws; ABORTED when the connection broke
 * afterwards, so that the server may have done what it was asked
 */
export async function openStream(
  { method, url, headers, body }: StreamedRequest,
  { dial, tls, signal, maxBytes }: StreamTerms,
): Promise<Response> {
  const { socket } = await dial(signal);
  let channel: Duplex = socket;
  if (url.protocol === "https:") {
    const { socket: secured, distrust } = await secure(socket, url.hostname, {
      signal,
      protocols: ["http/1.1"],
      terms: tls,
    });
    if (distrust !== undefined) {
      secured.destroy();
      const text = `this machine does not trust the certificate of ${url.host} (${distrust})`;
      throw new BotError("CONNECTION_FAILED", text);
    }
    channel = secured;
  }
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const request = http.request({
    createConnection: () => channel,
    method,
    path: `${url.pathname}${url.search}`,
    headers: {
      ...headers,
      host: url.host,
      "user-agent": "watchkeeper",
      "accept-encoding": "identity",
      ...length,
      connection: "close",
    },
    signal,
  });
  request.on("error", () => channel.destroy());
  request.end(body);
  try {
    const [response]: IncomingMessage[] = await once(request, "response", { signal });
    if (response === undefined) throw new Error("there was no answer");
    return answerOf(response, channel, maxBytes);
  } catch (error) {
    channel.destroy();
    const text = `${url.host} ended the connection without an answer`;
    throw new BotError("ABORTED", text, { cause: error });
  }
}

/** Statuses with which a Response takes no body. */
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

function answerOf(response: IncomingMessage, channel: Duplex, maxBytes: number): Response {
  const { statusCode: status = 502, headers } = response;
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] satisfies [string, string]],
  );
  const isBodiless = BODILESS.has(status);
  if (isBodiless) response.resume().on("close", () => channel.destroy());
  const stream = isBodiless ? null : bodyOf(response, channel, maxBytes);
  // What is no final status is none that a Response can have.
  return new Response(stream, {
    status: status < 200 || status > 599 ? 502 : status,
    headers: pairs,
  });
}

function bodyOf(response: IncomingMessage, channel: Duplex, maxBytes: number) {
  const chunks: AsyncIterator<Buffer> = response[Symbol.asyncIterator]();
  let total = 0;
  let isUnwanted = false;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await chunks.next();
        total += done === true ? 0 : value.length;
        if (total > maxBytes) throw new Error(`the answer is longer than ${maxBytes} bytes`);
        if (done === true) controller.close();
        else controller.enqueue(value);
        if (done === true) channel.destroy();
      } catch (error) {
        channel.destroy();
        if (!isUnwanted) controller.error(error);
      }
    },
    cancel() {
      isUnwanted = true;
      channel.destroy();
    },
  });
}
