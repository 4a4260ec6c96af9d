import http from "node:http";
import https from "node:https";
import net from "node:net";
import type { Duplex } from "node:stream";
import tls, { type ConnectionOptions } from "node:tls";
import { callbackify } from "node:util";
import type { Proxies, Scheme } from "./proxy.ts";
import { openTunnel } from "./tunnel.ts";

const open = callbackify(openTunnel);

type Callback = (error: Error | null, socket: Duplex) => void;

/** For clients that use node:http and node:https: one that goes through the proxy where there is one for the host. */
export function createAgent(scheme: Scheme, proxies: Proxies): http.Agent {
  const isSecure = scheme === "https:";
  const agent = isSecure
    ? new https.Agent({ keepAlive: true })
    : new http.Agent({ keepAlive: true });
  const direct = agent.createConnection.bind(agent);
  return Object.assign(agent, {
    createConnection(options: ConnectionOptions, callback: Callback) {
      const { host = "localhost", port = isSecure ? 443 : 80 } = options;
      const proxy = proxies.to(scheme, host, port);
      // A `Host` header is no name to connect to; node:http gives it besides.
      if (proxy === undefined) return direct(options, callback);
      const to = { host, port };
      open(proxy, to, { signal: new AbortController().signal }, (error, socket) => {
        // Behind an error there is no socket, whatever the type says.
        if (error !== null) callback(error, socket);
        else callback(null, isSecure ? secured(socket, options) : socket);
      });
      return undefined;
    },
  });
}

function secured(socket: net.Socket, { host = "", servername, ...options }: ConnectionOptions) {
  const name = servername ?? (net.isIP(host) === 0 ? host : "");
  return tls.connect({ ...options, host, servername: name, socket });
}
