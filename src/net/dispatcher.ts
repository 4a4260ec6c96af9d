import { callbackify } from "node:util";
import { Agent, buildConnector, type Dispatcher, WebSocket } from "undici";
import type { Proxies } from "./proxy.ts";
import { openTunnel } from "./tunnel.ts";

/**
 * What undici's requests and WebSockets connect by: through the proxy where there is one for the host. Limits are in milliseconds; a
 * WebSocket needs none.
 */
export function createDispatcher(
  proxies: Proxies,
  limits: { headersTimeout?: number; bodyTimeout?: number } = {},
): Dispatcher {
  if (proxies.all.length === 0) return new Agent(limits);
  return new Agent({ ...limits, connect: throughProxies(proxies) });
}

/** A WebSocket that connects so. */
export function createWebSocket(url: string, proxies: Proxies): WebSocket {
  return new WebSocket(url, { dispatcher: createDispatcher(proxies) });
}

const open = callbackify(openTunnel);

/** TLS is spoken with the host itself, whoever passes it on. */
function throughProxies(proxies: Proxies): buildConnector.connector {
  const direct = buildConnector({});
  return (options, callback) => {
    const { protocol, hostname, port } = options;
    const isSecure = protocol === "https:";
    const to = { host: hostname, port: Number(port) || (isSecure ? 443 : 80) };
    const proxy = proxies.to(isSecure ? "https:" : "http:", to.host, to.port);
    if (proxy === undefined) {
      direct(options, callback);
      return;
    }
    open(proxy, to, { signal: new AbortController().signal }, (error, socket) => {
      if (error !== null) callback(error, null);
      else if (isSecure) direct({ ...options, httpSocket: socket }, callback);
      else callback(null, socket);
    });
  };
}
