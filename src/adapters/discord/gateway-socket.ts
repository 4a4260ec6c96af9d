import { WebSocket } from "ws";
import { socketAgent } from "../shared/sockets.ts";

type Arguments = ConstructorParameters<typeof WebSocket>;

/**
 * Has the library's gateway connect through the proxy, where there is one. The library (@discordjs/ws 1.2) makes its sockets from
 * the class that `ws` names `WebSocket` and gives them no agent, so that name is given to one that has it. To be called before the
 * library is loaded.
 */
export function useProxiedGateway(): void {
  const agentFor = socketAgent();
  if (agentFor === undefined) return;
  class ProxiedSocket extends WebSocket {
    constructor(address: Arguments[0], protocols: Arguments[1], options: Arguments[2]) {
      super(address, protocols, { ...options, agent: agentFor?.(address) });
    }
  }
  // The library's own way to load `ws` sets the name again.
  Object.defineProperty(WebSocket, "WebSocket", {
    get: () => ProxiedSocket,
    set() {},
    configurable: true,
  });
}
