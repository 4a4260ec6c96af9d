import { addAbortListener, once } from "node:events";
import type http from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { BotError, codeOf, messageOf } from "../core/errors.ts";
import { formatAddress, printable } from "./format.ts";
import { type Proxy, proxyName } from "./proxy.ts";

/** From the connection to the proxy to its word that it has connected. */
const TUNNEL_MS = 10_000;

/**
 * A connection to a host and port through the proxy, as if it were direct: TLS is spoken with the host itself, and the proxy learns nothing
 * but the two. `host` may be an address; then the proxy looks nothing up.
 * @throws BotError CONNECTION_FAILED, which names the proxy and says what to do; ABORTED
 */
export async function openTunnel(
  proxy: Proxy,
  { host, port }: { host: string; port: number },
  { signal, timeoutMs = TUNNEL_MS }: { signal: AbortSignal; timeoutMs?: number },
): Promise<Socket> {
  if (signal.aborted) throw stopped(signal.reason);
  // Not loaded where no proxy is used.
  const { request } = proxy.isSecure ? await import("node:https") : await import("node:http");
  const authority = formatAddress(host, port);
  const { credentials } = proxy;
  const asked = request({
    host: proxy.host,
    port: proxy.port,
    method: "CONNECT",
    path: authority,
    agent: false,
    headers: {
      host: authority,
      ...(credentials !== undefined && { "proxy-authorization": `Basic ${credentials}` }),
    },
  });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const bound = addAbortListener(limit, () => asked.destroy());
  asked.on("error", () => {});
  asked.end();
  try {
    const [answer, socket, head]: [http.IncomingMessage, Socket, Buffer] = await once(
      asked,
      "connect",
      { signal: limit },
    ).then(([first, second, third]) => [first, second, third]);
    // Without a listener, a reset while nobody reads would end the process.
    socket.on("error", () => {});
    const { statusCode: status = 0, statusMessage = "" } = answer;
    if (status < 200 || status > 299) {
      socket.destroy();
      throw refused(proxy, authority, `${status} ${printable(statusMessage, 60)}`.trim());
    }
    if (head.length > 0) socket.unshift(head);
    return socket;
  } catch (error) {
    asked.destroy();
    if (signal.aborted) throw stopped(error);
    if (error instanceof BotError) throw error;
    throw failed(proxy, limit.aborted ? undefined : error, timeoutMs);
  } finally {
    bound[Symbol.dispose]();
  }
}

/** Destroys the socket when the signal aborts. */
export function bindTo(signal: AbortSignal, socket: Duplex): void {
  const bound = addAbortListener(signal, () => socket.destroy());
  socket.once("close", () => bound[Symbol.dispose]());
}

function refused(proxy: Proxy, authority: string, said: string): BotError {
  const { variable, credentials } = proxy;
  const name = `the proxy ${proxyName(proxy)}`;
  const needed =
    credentials === undefined
      ? `asks for a name and a password (407); write them into ${variable} as http://name:password@${proxyName(proxy)}`
      : `does not take the name and the password in ${variable} (407)`;
  const text = said.startsWith("407")
    ? `${name} ${needed}`
    : `${name} does not connect to ${authority} (${said}); have it allow that, or name the host in NO_PROXY`;
  return new BotError("CONNECTION_FAILED", text);
}

/** `error` is undefined where nothing came in time. */
function failed(proxy: Proxy, error: unknown, timeoutMs: number): BotError {
  const code = codeOf(error);
  const why =
    error === undefined
      ? `does not answer within ${timeoutMs / 1_000} s`
      : code === "ECONNREFUSED"
        ? "refuses connections"
        : code?.startsWith("HPE_") === true
          ? "does not speak HTTP"
          : `cannot be used (${printable(code ?? messageOf(error), 100)})`;
  const text = `the proxy ${proxyName(proxy)} ${why}; check ${proxy.variable}`;
  return new BotError("CONNECTION_FAILED", text, { cause: error });
}

function stopped(cause: unknown): BotError {
  return new BotError("ABORTED", "stopped before the connection was made", { cause });
}
