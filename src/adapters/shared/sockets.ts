import type { Agent } from "node:http";
import type { Dispatcher, WebSocket } from "undici";
import { createAgent } from "../../net/agent.ts";
import { createDispatcher, createWebSocket } from "../../net/dispatcher.ts";
import { readProxies } from "../../net/proxy.ts";

/** What WebSockets of undici connect by, through the proxy where there is one. */
export function socketDispatcher(): Dispatcher {
  return createDispatcher(readProxies());
}

/** One of them. */
export function createSocket(url: string): WebSocket {
  return createWebSocket(url, readProxies());
}

/** The same for those that use node:http; undefined where there is no proxy. */
export function socketAgent(): ((address: string | URL) => Agent) | undefined {
  const proxies = readProxies();
  if (proxies.all.length === 0) return undefined;
  return (address) =>
    createAgent(/^(?:wss|https):/i.test(String(address)) ? "https:" : "http:", proxies);
}
