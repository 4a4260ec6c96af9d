import { once } from "node:events";
// oxlint-disable-next-line no-restricted-imports -- It speaks over the connection that ctx.dial opened.
import http, { STATUS_CODES, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { addAbortSignal, type Duplex } from "node:stream";
import { BotError, isBotError, messageOf } from "../../core/errors.ts";
import type { ToolContext } from "../tool.ts";
import { decodeBody, receiveBody, type Body } from "./http-body.ts";
import type { CertificateReport } from "./certificate.ts";
import { dialWithin, secure, type TimeLimit } from "./connection.ts";
import { formatAddress, formatBytes, formatMs, printable } from "./format.ts";

export type Method = "GET" | "HEAD";

/** One request and everything that came of it, however far it got. Times in milliseconds. */
export interface Exchange {
  method: Method;
  url: URL;
  /** `127.0.0.1:80`, once connected. */
  at?: string;
  dnsMs?: number;
  connectMs?: number;
  tlsMs?: number;
  /** From sending the request to the first byte of the answer. */
  firstByteMs?: number;
  totalMs: number;
  /** `TLSv1.3` */
  protocol?: string;
  certificate?: CertificateReport;
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
 * absence, can do to us is an exchange with a `problem`.
 * @throws BotError ADDRESS_REFUSED, INPUT_INVALID, ABORTED
 */
export async function exchange(
  method: Method,
  url: URL,
  ctx: ToolContext,
  limit: TimeLimit,
): Promise<Exchange> {
  const started = performance.now();
  const record: Exchange = { method, url, totalMs: 0 };
  const sight: Sight = {};
  let connection: Duplex | undefined;
  try {
    const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
    const isTls = url.protocol === "https:";
    const port = url.port === "" ? (isTls ? 443 : 80) : Number(url.port);
    const dialed = await dialWithin(ctx, host, port, limit);
    connection = dialed.socket;
    record.at = formatAddress(dialed.address, dialed.port);
    record.dnsMs = dialed.dnsMs;
    record.connectMs = dialed.connectMs;
    let channel = dialed.socket;
    if (isTls) {
      const { socket, ...tls } = await secure(channel, host, limit, ["http/1.1"]);
      Object.assign(record, tls);
      channel = socket;
    }
    const response = await ask(channel, record, sight, limit);
    record.answer = await readAnswer(response, record, sight, limit);
  } catch (error) {
    const isResult = isBotError(error, "ADDRESS_UNKNOWN", "CONNECTION_FAILED");
    if (isBotError(error) && !isResult) throw error;
    const accepted = record.at === undefined ? "" : `${record.at} accepts connections, but `;
    record.problem = isResult
      ? `${accepted}${error.message}`
      : describeFailure(error, record, sight, limit);
  } finally {
    connection?.destroy();
    record.totalMs = performance.now() - started;
  }
  if (ctx.signal.aborted) throw new BotError("ABORTED", "the check was stopped");
  return record;
}

/** Sends the request and waits for the end of the answer's headers. */
async function ask(
  channel: Duplex,
  record: Exchange,
  sight: Sight,
  limit: TimeLimit,
): Promise<IncomingMessage> {
  const sent = performance.now();
  const request = http.request({
    createConnection: () => channel,
    method: record.method,
    path: `${record.url.pathname}${record.url.search}`,
    headers: {
      host: record.url.host,
      "user-agent": "watchkeeper",
      accept: "*/*",
      "accept-encoding": "gzip, br",
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
  request.end();
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
  limit: TimeLimit,
): Promise<Answer> {
  const { statusCode: status = 0, statusMessage, headers } = response;
  const reason = printable(statusMessage || (STATUS_CODES[status] ?? ""), 60);
  const { bytes, isWhole, error } = await receiveBody(addAbortSignal(limit.signal, response));
  const length = headers["content-length"];
  const amount = `${bytes.length}${length === undefined ? "" : ` of ${length}`} bytes`;
  const problem = bodyProblem(error, amount, sight, limit);
  if (problem !== undefined) record.problem = problem;
  const body = await decodeBody(bytes, isWhole, headers);
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
  const code = error instanceof Error && "code" in error ? error.code : undefined;
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
  const accepted = `${record.at} accepted the connection in ${formatMs(record.connectMs ?? 0)}, but`;
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
  const isParser =
    error instanceof Error && "code" in error && String(error.code).startsWith("HPE_");
  if (!isParser) return undefined;
  return printable("reason" in error ? String(error.reason) : error.message, 100);
}
