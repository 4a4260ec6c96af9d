import { once } from "node:events";
import http, { STATUS_CODES, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { addAbortSignal, type Duplex } from "node:stream";
import { withoutBrackets } from "../core/canonical.ts";
import { formatElapsed } from "../core/instant.ts";
import { readCapped } from "../core/read-capped.ts";
import { formatBytes } from "../core/text.ts";
import { BotError, codeOf, isBotError, messageOf } from "../core/errors.ts";
import type { TimeLimit } from "../core/time-limit.ts";
import type { Network } from "./dial.ts";
import { formatAddress, printable } from "./format.ts";
import { type Body, decodeBody } from "./http-body.ts";
import { secure, type Secured, type TlsTerms } from "./tls.ts";

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface OutgoingRequest {
  method: Method;
  url: URL;
  /** Besides those of every request, or in their place. */
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | Uint8Array | undefined;
}

/** What holds for all requests of one visit. */
export interface HttpTerms {
  dial: Network["dial"];
  /** Ends the call as a whole; then nothing is reported. */
  signal: AbortSignal;
  limit: TimeLimit;
  /** Of a body, both as it is received and decoded. */
  maxBytes: number;
  /** True: nothing is sent to a server whose certificate this machine does not trust. */
  trusted: boolean;
  tls?: TlsTerms | undefined;
}

/** One request and everything that came of it, however far it got. Times in milliseconds. */
export interface Exchange extends Partial<Omit<Secured, "socket">> {
  method: Method;
  url: URL;
  /** `127.0.0.1:80`, once connected. */
  at?: string;
  dnsMs?: number;
  connectMs?: number;
  /** True once the server may have the request. */
  isSent: boolean;
  /** From sending the request to the first byte of the answer. */
  firstByteMs?: number;
  totalMs: number;
  answer?: Answer;
  /** Why there is no answer, or only a part of one. */
  problem?: string;
}

export interface Answer {
  status: number;
  /** `200 OK` */
  statusLine: string;
  headers: IncomingHttpHeaders;
  body: Body;
}

/** What was seen of an answer besides what http makes of it. */
interface Sight {
  /** Its first bytes. */
  begin?: Buffer;
  /** What http has against it; a response's own errors only say that it was cut. */
  fault?: Error;
}

/**
 * Makes one request over a connection of its own, which is closed when this returns. Everything that a server, or its
 * absence, can do to us is an exchange with a `problem`. No HTTP client stands between: it would hide what a check reports,
 * the time of each phase, a refused certificate, bytes that are no HTTP; and undici takes 120 ms and 19 MB to load.
 * @throws BotError ADDRESS_REFUSED, INPUT_INVALID, ABORTED
 */
export async function exchange(request: OutgoingRequest, terms: HttpTerms): Promise<Exchange> {
  const { method, url } = request;
  const { limit, signal } = terms;
  const started = performance.now();
  const record: Exchange = { method, url, isSent: false, totalMs: 0 };
  const sight: Sight = {};
  let connection: Duplex | undefined;
  try {
    connection = await connect(record, terms);
    const response = await ask(connection, request, record, sight, limit);
    record.answer = await readAnswer(response, record, sight, terms);
  } catch (error) {
    const isResult = isBotError(error, "ADDRESS_UNKNOWN", "CONNECTION_FAILED");
    if (isBotError(error) && !isResult && !limit.signal.aborted) throw error;
    const accepted = record.at === undefined ? "" : `${record.at} accepts connections, but `;
    record.problem = isResult
      ? `${accepted}${error.message}`
      : describeFailure(error, record, sight, limit);
  } finally {
    connection?.destroy();
    record.totalMs = performance.now() - started;
  }
  if (signal.aborted) throw new BotError("ABORTED", "the request was stopped");
  return record;
}

/** Connects, with TLS where the URL says so. */
async function connect(
  record: Exchange,
  { dial, limit, trusted, tls: terms }: HttpTerms,
): Promise<Duplex> {
  const { hostname, protocol, port: written } = record.url;
  const host = withoutBrackets(hostname);
  const isTls = protocol === "https:";
  const port = written === "" ? (isTls ? 443 : 80) : Number(written);
  const call = { signal: limit.signal, scheme: isTls ? "https:" : "http:" } as const;
  const { socket: plain, address, dnsMs, connectMs, via } = await dial(host, port, call);
  const through = via === undefined ? "" : ` (through the proxy ${via})`;
  Object.assign(record, { at: `${formatAddress(address, port)}${through}`, dnsMs, connectMs });
  if (!isTls) return plain;
  const { socket, ...tls } = await secure(plain, host, {
    ...limit,
    protocols: ["http/1.1"],
    terms,
  });
  Object.assign(record, tls);
  if (!trusted || tls.distrust === undefined) return socket;
  socket.destroy();
  const text = `this machine does not trust its certificate (${tls.distrust}); for an authority of your own set NODE_EXTRA_CA_CERTS`;
  throw new BotError("CONNECTION_FAILED", text);
}

/** Sends the request and waits for the end of the answer's headers. */
async function ask(
  channel: Duplex,
  { method, url, headers, body }: OutgoingRequest,
  record: Exchange,
  sight: Sight,
  limit: TimeLimit,
): Promise<IncomingMessage> {
  const sent = performance.now();
  const request = http.request({
    createConnection: () => channel,
    method,
    path: `${url.pathname}${url.search}`,
    headers: {
      host: url.host,
      "user-agent": "watchkeeper",
      accept: "*/*",
      "accept-encoding": "gzip, br",
      ...headers,
      // Node sends a DELETE's body without its length, and servers then take it for none.
      ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
      connection: "close",
    },
  });
  request.on("error", (error) => {
    sight.fault = error;
  });
  request.once("socket", () => {
    channel.once("data", (chunk: Buffer) => {
      record.firstByteMs = performance.now() - sent;
      sight.begin = chunk;
    });
  });
  record.isSent = true;
  request.end(body);
  const [response] = await Promise.race([
    once(request, "response", limit),
    // Nobody asked for it. Without a listener, http drops the connection and tells nobody.
    once(request, "upgrade", limit).then(() => {
      throw new Error("101 came, to speak another protocol than HTTP");
    }),
  ]);
  return response;
}

async function readAnswer(
  response: IncomingMessage,
  record: Exchange,
  sight: Sight,
  { limit, maxBytes }: HttpTerms,
): Promise<Answer> {
  const { statusCode: status = 0, statusMessage, headers } = response;
  const reason = printable(statusMessage || (STATUS_CODES[status] ?? ""), 60);
  const stream = addAbortSignal(limit.signal, response);
  const { bytes, isWhole, error } = await readCapped(stream, maxBytes);
  const length = headers["content-length"];
  const amount = `${bytes.length}${length === undefined ? "" : ` of ${length}`} bytes`;
  const problem = bodyProblem(error, amount, sight, limit);
  if (problem !== undefined) record.problem = problem;
  const body = await decodeBody(bytes, isWhole, headers, maxBytes);
  return { status, statusLine: `${status} ${reason}`.trim(), headers, body };
}

/** What is wrong with how a body ended, or undefined. */
function bodyProblem(
  error: unknown,
  amount: string,
  sight: Sight,
  limit: TimeLimit,
): string | undefined {
  const fault = parserFault(sight.fault);
  if (error === undefined) {
    return fault === undefined ? undefined : `more follows after the body's ${amount}`;
  }
  if (limit.signal.aborted)
    return `the body did not end within ${limit.seconds} s (${amount} came)`;
  if (fault === undefined) return `the body was cut off after ${amount}`;
  return `the body is broken HTTP after ${amount}: ${fault}`;
}

/** What ended the exchange before the headers were complete. */
function describeFailure(error: unknown, record: Exchange, sight: Sight, limit: TimeLimit): string {
  const begin = sight.begin?.toString("latin1") ?? "";
  if (limit.signal.aborted) {
    return `${describeLateness(record, begin !== "")} within ${limit.seconds} s`;
  }
  const code = codeOf(error);
  if (code === "HPE_HEADER_OVERFLOW") {
    return `${record.at} sends headers of more than ${formatBytes(http.maxHeaderSize)}`;
  }
  const fault = parserFault(error);
  if (fault !== undefined) return `${record.at} ${describeGarbage(begin, fault)}`;
  if (code === "ECONNRESET" || code === "EPIPE") {
    return `${record.at} closed the connection ${begin === "" ? "without an answer" : "in the middle of the headers"}`;
  }
  return `no answer from ${record.at}: ${printable(messageOf(error), 200)}`;
}

function describeLateness(record: Exchange, hasBegun: boolean): string {
  if (record.at === undefined) return `no connection to ${record.url.host}`;
  const accepted = `${record.at} accepted the connection in ${formatElapsed(record.connectMs ?? 0)}, but`;
  if (record.url.protocol === "https:" && record.protocol === undefined) {
    return `${accepted} the TLS handshake did not end`;
  }
  return hasBegun ? `${accepted} its headers did not end` : `${accepted} did not answer`;
}

function describeGarbage(begin: string, fault: string): string {
  // A TLS record that carries an alert (RFC 8446, 5.1): the server was not spoken to in TLS.
  if (begin.startsWith("\x15\x03")) return "speaks TLS, not plain HTTP: try https";
  if ("HTTP/".startsWith(begin.slice(0, 5))) return `sends broken HTTP: ${fault}`;
  return `answers, but not in HTTP: ${printable(begin.split(/\r?\n/, 1)[0] ?? "", 80)}`;
}

/** What Node's HTTP parser (llhttp) found wrong, or undefined for any other error. */
function parserFault(error: unknown): string | undefined {
  if (!(error instanceof Error) || codeOf(error)?.startsWith("HPE_") !== true) return undefined;
  return printable("reason" in error ? String(error.reason) : error.message, 100);
}
