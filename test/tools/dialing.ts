import net from "node:net";
import { vi } from "vitest";
import { isBotError } from "../../src/core/errors.ts";
import { createNetwork } from "../../src/net/dial.ts";

type Rules = Parameters<typeof createNetwork>[0];
type Options = NonNullable<Parameters<typeof createNetwork>[1]>;
type Lookup = NonNullable<Options["lookup"]>;

/** The person's own machine, and any other. */
export const LOCAL: Rules = { allow: [], local: true };
export const SERVER: Rules = { allow: [], local: false };
/** Allows whatever a setting can allow. */
export const EVERYTHING: Rules = { allow: ["0.0.0.0/0", "::/0", "*.example"], local: true };

/**
 * Records every address that a socket is asked to connect to, and, unless `real`, answers "refused" in its place, so
 * that nothing leaves this machine.
 */
export function spyOnSockets(behaviour: "refusing" | "real" = "refusing"): () => string[] {
  const spy = vi.spyOn(net.Socket.prototype, "connect");
  if (behaviour === "refusing") {
    spy.mockImplementation(function (this: net.Socket) {
      queueMicrotask(() => this.destroy(errno("ECONNREFUSED")));
      return this;
    });
  }
  // net.connect hands over one list of its normalized arguments.
  return () => spy.mock.calls.map((args: unknown[]) => args.flat().find(hasHost)?.host ?? "");
}

/** Dials, hangs up, and says how it ended: with the address, or with the error's code and message. */
export async function attempt(
  host: string,
  options: { rules?: Rules; dialing?: Options; port?: number; signal?: AbortSignal } = {},
): Promise<{ ended: string; message: string }> {
  const { rules = SERVER, port = 80, signal = new AbortController().signal } = options;
  try {
    const { socket, address } = await createNetwork(rules, options.dialing).dial(host, port, {
      signal,
    });
    socket.destroy();
    return { ended: "CONNECTED", message: address };
  } catch (error) {
    if (!isBotError(error)) throw error;
    return { ended: error.code, message: error.message };
  }
}

/** A resolver that gives the first answer to the first question, and so on. */
export function answering(...answers: string[][]): { lookup: Lookup } {
  const rest = [...answers];
  return { lookup: async () => rest.shift() ?? [] };
}

export function errno(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function hasHost(value: unknown): value is { host: string } {
  return typeof value === "object" && value !== null && "host" in value;
}
