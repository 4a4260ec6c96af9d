import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { verifySlackRequest } from "@slack/bolt";
import type { Logger } from "pino";
import { BotError, isBotError, messageOf } from "../../core/errors.ts";
import { createQuietLog } from "../shared/quiet-log.ts";
import { type EventSource, STOP_MS, type Take } from "./receiver.ts";

export interface HttpSourceOptions {
  signingSecret: string;
  /** 0: any that is free. */
  port: number;
  log: Logger;
  /** How long what was begun may take, ms. Default: 5 s for the headers, 10 s for a request. */
  times?: Pick<ServerOptions, keyof typeof TIMES>;
}

const PATH = "/slack/events";

/** Anybody may connect: what one connection can hold is bounded before a byte of its body is read. */
const MAX_CONNECTIONS = 100;
/** Slack's largest are some 100 KiB. */
const MAX_BODY_BYTES = 1024 * 1024;
/** How far a request's time may be from ours, either way (docs.slack.dev, "Verifying requests from Slack"). */
const MAX_SKEW_S = 300;

const TIMES = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
};

/**
 * Events by HTTP. A request is answered when its event was taken; 500 makes Slack send it again. What is not signed by Slack
 * within five minutes of now is 401, and not read without the headers for it. `/healthz` is 200 while it listens.
 */
export function createHttpSource(options: HttpSourceOptions): EventSource {
  const { signingSecret, port, log, times = TIMES } = options;
  const quietly = createQuietLog(log);
  let server: Server | undefined;

  /** @throws Refused when it is not Slack's, or not of a form that can be read */
  async function readRequest(request: IncomingMessage): Promise<unknown> {
    const signed = readSignature(request);
    const body = await readBody(request);
    try {
      verifySlackRequest({ signingSecret, body, headers: signed });
    } catch (error) {
      throw new Refused(401, messageOf(error));
    }
    try {
      return parseBody(body, request.headers["content-type"]);
    } catch (error) {
      throw new Refused(400, `its body cannot be read: ${messageOf(error)}`);
    }
  }

  async function serve(take: Take, request: IncomingMessage, response: ServerResponse) {
    const [path] = (request.url ?? "").split("?");
    if (request.method === "GET" && path === "/healthz") return end(response, 200, "ok\n");
    if (request.method !== "POST" || path !== PATH) return refuse(response, 404);
    let body: unknown;
    try {
      body = await readRequest(request);
    } catch (error) {
      const { status, message } = error instanceof Refused ? error : CUT_OFF;
      quietly(
        `A request was refused: ${message}. If it was Slack's, compare SLACK_SIGNING_SECRET and this machine's clock`,
        "http",
      );
      return refuse(response, status);
    }
    try {
      const answer = await take(body);
      return answer === undefined ? end(response, 200) : endJson(response, answer);
    } catch (error) {
      // Whoever took it has logged it.
      if (!isBotError(error)) quietly("a request could not be answered", "http", error);
      return end(response, 500);
    }
  }

  async function stop(): Promise<void> {
    const listening = server;
    server = undefined;
    if (listening === undefined) return;
    const limit = setTimeout(() => listening.closeAllConnections(), STOP_MS);
    await new Promise<void>((resolve) => listening.close(() => resolve()));
    clearTimeout(limit);
  }

  return {
    async start(take) {
      const made = createServer(times, (request, response) => {
        serve(take, request, response).catch((error: unknown) => {
          log.debug({ err: error }, "a request could not be answered");
          response.destroy();
        });
      });
      made.maxConnections = MAX_CONNECTIONS;
      try {
        await listen(made, port);
      } catch (error) {
        const text = `Port ${port} (PORT) cannot be listened on: ${messageOf(error)}.`;
        throw new BotError("PLATFORM_REFUSED", text, { cause: error });
      }
      server = made;
    },
    stop,
    describe() {
      const address = server?.address();
      const open = typeof address === "object" ? address?.port : undefined;
      return `Slack sends events by HTTP to port ${open ?? port}, path ${PATH}.`;
    },
    app: () => undefined,
  };
}

/** Why a request is not taken. */
class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const CUT_OFF = { status: 400, message: "it was cut off" };

/** The headers of Slack's signature, of a time near now. @throws Refused */
function readSignature({ headers }: IncomingMessage) {
  const signature = headers["x-slack-signature"];
  const timestamp = headers["x-slack-request-timestamp"];
  const seconds =
    typeof timestamp === "string" && /^\d+$/.test(timestamp) ? Number(timestamp) : NaN;
  if (typeof signature !== "string" || Number.isNaN(seconds)) {
    throw new Refused(401, "it is not signed");
  }
  if (Math.abs(Date.now() / 1_000 - seconds) > MAX_SKEW_S) {
    throw new Refused(401, "its time differs from this machine's by more than five minutes");
  }
  return { "x-slack-signature": signature, "x-slack-request-timestamp": seconds };
}

/** @throws Refused when it is too long, else what the connection's end throws */
async function readBody(request: IncomingMessage): Promise<string> {
  const tooLong = new Refused(413, `it is longer than ${MAX_BODY_BYTES} bytes`);
  if (Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES) throw tooLong;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.byteLength;
    if (bytes > MAX_BODY_BYTES) throw tooLong;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Events are JSON; what people press is a form's `payload`, what they type as a command the form itself. */
function parseBody(body: string, type = ""): unknown {
  if (!type.startsWith("application/x-www-form-urlencoded")) return JSON.parse(body);
  const form = new URLSearchParams(body);
  const payload = form.get("payload");
  return payload === null ? Object.fromEntries(form) : JSON.parse(payload);
}

function end(response: ServerResponse, status: number, text = ""): void {
  response.writeHead(status);
  response.end(text);
}

function endJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** Whatever is still to come on this connection is not read. */
function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { connection: "close" });
  response.end();
}

async function listen(server: Server, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, resolve);
  await promise;
  server.off("error", reject);
}
