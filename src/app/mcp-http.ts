import { randomUUID } from "node:crypto";
import { isIP } from "node:net";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { createBearerCheck } from "../core/bearer.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "../core/http-route.ts";
import { tryJson } from "../core/json.ts";

/**
 * The server for agents over streamable HTTP (modelcontextprotocol.io, "Transports"), as routes of the program's one HTTP server.
 * `docs/integrations/mcp.md` lists what each status means.
 */

const PATH = "/mcp";

/** Of a session that is forgotten the agent begins another: 404 tells it to. */
const MAX_SESSIONS = 32;
const IDLE_MS = 30 * 60_000;

export interface McpHttpOptions {
  /** What every request carries: `Authorization: Bearer …`. */
  token: string;
  /** Names by which the server may be asked for, besides addresses and `localhost`. */
  hosts: readonly string[];
  /** True: only this machine may ask. */
  isLocal: boolean;
  /** The server of one session. */
  createServer(): Server;
  log: Logger;
  /** The clock that sessions age by, in ms, never running backwards. Default: since the process began. */
  now?: () => number;
}

interface Session {
  server: Server;
  transport: WebStandardStreamableHTTPServerTransport;
}

export function createMcpHttp({ now, log, ...options }: McpHttpOptions) {
  const sessions = new LRUCache<string, Session>({
    max: MAX_SESSIONS,
    ttl: IDLE_MS,
    updateAgeOnGet: true,
    ...(now !== undefined && { perf: { now }, ttlResolution: 0 }),
    disposeAfter: ({ server }) => void end(server),
  });

  async function end(server: Server): Promise<void> {
    await server.close().catch((error: unknown) => {
      log.debug({ err: error }, "an agent's session could not be closed");
    });
  }

  async function begin(): Promise<Session> {
    sessions.purgeStale();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, session),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const session = { server: options.createServer(), transport };
    await session.server.connect(transport);
    return session;
  }

  async function handle(
    method: HttpRoute["method"],
    { headers, body }: HttpRequest,
  ): Promise<HttpReply> {
    const id = headers["mcp-session-id"];
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    if (known === undefined && id !== undefined) return refusal(404, "Session not found");
    if (known === undefined && !isInitializeRequest(tryJson(body)))
      return refusal(400, "Send initialize first, then its Mcp-Session-Id with each request");
    const { transport } = known ?? (await begin());
    const asked = new Request(`http://localhost${PATH}`, {
      method,
      headers: headersOf(headers),
      ...(method === "POST" && { body }),
    });
    const { status, headers: said, body: stream } = await transport.handleRequest(asked);
    return { status, headers: Object.fromEntries(said), ...(stream !== null && { stream }) };
  }

  const routes = (["POST", "GET", "DELETE"] as const).map((method): HttpRoute => ({
    method,
    path: PATH,
    isLocal: options.isLocal,
    refuse: (headers) => refuse(headers, options),
    handle: (request) => handle(method, request),
  }));

  return {
    routes,
    /** Ends every session, and with it what its agent still listens to. */
    async stop(): Promise<void> {
      const open = [...sessions.values()];
      sessions.clear();
      await Promise.all(open.map(({ server }) => end(server)));
    },
  };
}

function refuse(
  headers: HttpRequest["headers"],
  { hosts, token }: Pick<McpHttpOptions, "hosts" | "token">,
): HttpReply | undefined {
  const { host = "", origin } = headers;
  // A web page can make a name of its own lead here, and then its browser says that name (DNS rebinding).
  if (!isOurs(`http://${String(host)}`, hosts))
    return refusal(403, "This server does not answer to that Host; MCP_HOSTS adds names");
  if (origin !== undefined && !isOurs(String(origin), hosts))
    return refusal(403, "Pages from that Origin can't use this server");
  if (createBearerCheck(token)(headers)) return undefined;
  const denied = refusal(401, "The bearer token is missing or wrong");
  return { ...denied, headers: { ...denied.headers, "www-authenticate": "Bearer" } };
}

function isOurs(url: string, hosts: readonly string[]): boolean {
  if (!URL.canParse(url)) return false;
  const hostname = new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
  return hostname === "localhost" || isIP(hostname) !== 0 || hosts.includes(hostname);
}

function refusal(status: number, message: string): HttpReply {
  const error = { code: status === 404 ? -32_001 : -32_000, message };
  return { status, json: { jsonrpc: "2.0", error, id: null } };
}

function headersOf(headers: HttpRequest["headers"]): Headers {
  const own = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) own.set(name, [value].flat().join(", "));
  return own;
}
