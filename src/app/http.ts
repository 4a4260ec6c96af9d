import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import ipaddr from "ipaddr.js";
import type { Logger } from "pino";
import { BotError, messageOf } from "../core/errors.ts";
import { formatBytes } from "../core/text.ts";
import type { HttpReply, HttpRoute } from "../core/http-route.ts";
import { readCapped } from "../core/read-capped.ts";

/** Anybody may connect: what one connection can hold is bounded before a byte of its body is read. */
const MAX_CONNECTIONS = 100;
/** So many more are told to come again; what comes beyond them is closed at once. */
const MAX_TURNED_AWAY = 50;
/** Slack's largest are some 100 KiB. */
const MAX_BODY_BYTES = 1024 * 1024;

const TIMES = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
};

interface HttpServerParts {
  routes: readonly HttpRoute[];
  /** 0: any that is free. */
  port: number;
  /** The address to listen on. Default: all of this machine's. */
  host?: string | undefined;
  log: Logger;
  /** How long what was begun may take, ms. Default: 5 s for the headers, 10 s for a request. */
  times?: Pick<ServerOptions, keyof typeof TIMES>;
  /** How long a connection for which there is no place is kept to be told so, ms. Default: 2 s. */
  turnedAwayMs?: number;
  /** How long what is being answered when the server stops may take, ms. Default: 3 s. */
  stopMs?: number;
}

export type HttpServer = Awaited<ReturnType<typeof startHttpServer>>;

/**
 * The program's one server. `GET /healthz` is answered with 200 while it listens; all else goes to the route of its address.
 * @throws BotError CONFIG_INVALID when the port cannot be listened on
 */
export async function startHttpServer(parts: HttpServerParts) {
  const { routes, port, host, log, times = TIMES, turnedAwayMs = 2_000, stopMs = 3_000 } = parts;
  const all = [HEALTH, ...routes];
  /** Every connection, and how many requests are being answered on it. */
  const connections = new Map<Socket, number>();
  const count = (socket: Socket, change: number) => {
    const before = connections.get(socket);
    if (before === undefined) return;
    connections.set(socket, before + change);
    if (before + change === 0 && !server.listening) socket.end();
  };
  const turnedAway = new Set<Socket>();
  const server = createServer(times, (request, response) => {
    if (turnedAway.has(request.socket)) return refuse(response, FULL);
    count(request.socket, 1);
    response.once("close", () => count(request.socket, -1));
    serve(all, request, response).catch((error: unknown) => {
      log.debug({ err: error }, "a request could not be answered");
      response.destroy();
    });
  });
  server.maxConnections = MAX_CONNECTIONS + MAX_TURNED_AWAY;
  server.on("connection", (socket) => {
    const isFull = connections.size - turnedAway.size >= MAX_CONNECTIONS;
    connections.set(socket, 0);
    const limit = isFull ? setTimeout(() => socket.destroy(), turnedAwayMs) : undefined;
    if (isFull) turnedAway.add(socket);
    socket.once("close", () => {
      connections.delete(socket);
      turnedAway.delete(socket);
      clearTimeout(limit);
    });
  });
  try {
    await listen(server, port, host);
  } catch (error) {
    const at = host === undefined ? "" : ` of ${host} (LISTEN_HOST)`;
    const text = `PORT: ${port}${at} cannot be listened on: ${messageOf(error)}.`;
    throw new BotError("CONFIG_INVALID", text, { cause: error });
  }
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    /** Takes nothing new, and ends the connections once what is being answered is, within `stopMs`. */
    async stop(): Promise<void> {
      const limit = setTimeout(() => server.closeAllConnections(), stopMs);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // Node would wait for those on which nothing was ever asked.
      for (const [socket, answering] of connections) if (answering === 0) socket.destroy();
      await closed;
      clearTimeout(limit);
    },
  };
}

const FULL: HttpReply = {
  status: 503,
  headers: { "retry-after": "5" },
  text: "Too many connections are open. Try again soon.\n",
};

const HEALTH: HttpRoute = {
  method: "GET",
  path: "/healthz",
  handle: async () => ({ status: 200, text: "ok\n" }),
};

async function serve(
  routes: readonly HttpRoute[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path, query] = (request.url ?? "").split("?", 2);
  const there = routesAt(routes, path);
  const route = there.find(({ method }) => method === request.method);
  if (route === undefined) return refuse(response, unserved(there));
  if (route.isLocal === true && !isLoopback(request.socket.remoteAddress))
    return refuse(response, { status: 403 });
  const { headers } = request;
  const refused = route.refuse?.(headers);
  if (refused !== undefined) return refuse(response, refused);
  let body = "";
  try {
    // Anybody may GET: a body that such a request sends all the same is not kept.
    if (route.method !== "GET") body = await readBody(request, route.maxBytes);
  } catch (error) {
    const { status, message } = error instanceof TooLong ? error : CUT_OFF;
    route.onCut?.(message);
    const help = error instanceof TooLong ? (route.tooLong ?? SEND_LESS) : "Send it again.";
    return refuse(response, { status, text: `The body was not read: ${message}. ${help}\n` });
  }
  const asked = { headers, body, query: new URLSearchParams(query) };
  await reply(response, await route.handle(asked).catch(() => ({ status: 500 })));
}

/** Those of that very address, else those of what is above it. */
function routesAt(routes: readonly HttpRoute[], path = ""): HttpRoute[] {
  const own = routes.filter((each) => each.path === path);
  if (own.length > 0) return own;
  return routes.filter(
    (each) => each.path.endsWith("/*") && path.startsWith(each.path.slice(0, -1)),
  );
}

/** What is asked in vain: no address, or an address in another way. */
function unserved(there: readonly HttpRoute[]): HttpReply {
  if (there.length === 0) return { status: 404, text: "Nothing is served at this address.\n" };
  const allow = there.map(({ method }) => method).join(", ");
  return { status: 405, headers: { allow }, text: `This address takes ${allow}.\n` };
}

function isLoopback(address = ""): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";
}

class TooLong extends Error {
  readonly status = 413;
}

const SEND_LESS = "Send less in one request.";

const CUT_OFF = { status: 400, message: "it was cut off" };

/** @throws TooLong, else what the connection's end throws */
async function readBody(request: IncomingMessage, maxBytes = MAX_BODY_BYTES): Promise<string> {
  // Made only where it is thrown: an error takes longer than the rest of this.
  const tooLong = () => new TooLong(`it is longer than ${formatBytes(maxBytes)}`);
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLong();
  const { bytes, isWhole, error } = await readCapped(request, maxBytes);
  if (error !== undefined) throw error;
  if (!isWhole) throw tooLong();
  return bytes.toString();
}

async function reply(response: ServerResponse, { stream, ...said }: HttpReply): Promise<void> {
  if (stream === undefined) return end(response, said);
  response.writeHead(said.status, said.headers);
  // Who asked may wait long for the first event.
  response.flushHeaders();
  await pipeline(stream, response);
}

function end(response: ServerResponse, { status, text, json, headers }: HttpReply): void {
  const isJson = text === undefined && json !== undefined;
  response.writeHead(status, { ...(isJson && { "content-type": "application/json" }), ...headers });
  response.end(isJson ? JSON.stringify(json) : text);
}

/** Whatever is still to come on this connection is not read. */
function refuse(response: ServerResponse, { headers, ...reason }: HttpReply): void {
  end(response, { ...reason, headers: { ...headers, connection: "close" } });
}

async function listen(server: Server, port: number, host: string | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen({ port, host }, resolve);
  await promise;
  server.off("error", reject);
}
