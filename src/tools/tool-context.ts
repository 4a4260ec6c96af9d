import { destinations } from "../approvals/egress.ts";
import { canonicalHost, hostOf } from "../core/canonical.ts";
import type { JsonObject } from "../core/entry.ts";
import { BotError } from "../core/errors.ts";
import type { Network } from "../net/dial.ts";
import type { Encoder } from "../security/encoder.ts";
import { dialEndpoint, endpointOf, requestHttp } from "./http.ts";
import type { Exec } from "./process.ts";
import type { Asking, Tool, ToolContext } from "./tool.ts";

/** What contexts are made of. */
export interface ContextParts {
  exec: Exec;
  network: Network;
  /** What every stored and shown text passes. */
  encoder: Encoder;
}

/** One piece of work with a call: what it is about, and what is there only while the tool is run. */
export interface CallContext {
  signal: AbortSignal;
  args: JsonObject;
  asker?: Asking | undefined;
  artifact?: (id: string) => Promise<Uint8Array>;
  maxBytes?: number | undefined;
  permit?: ((args: JsonObject) => Promise<string | undefined>) | undefined;
}

/**
 * What the tool may use in the call, and no more than it declares: programs only where it is `hostBound`, connections only to
 * its endpoints by their names, to the hosts that its arguments name by their `kinds` and to those that it was permitted to go on to.
 * Approvals, egress and the machine on a card follow from those fields, so a tool that lacks one fails here instead of
 * passing them by.
 */
export function createContext(
  parts: ContextParts,
  tool: Tool,
  { signal, args, asker, artifact = noArtifact, maxBytes, permit: ask = unpermitted }: CallContext,
): ToolContext {
  const { encoder, network } = parts;
  const hostsOf = (given: JsonObject) =>
    destinations(tool.kinds ?? {}, given).map(({ host }) => host);
  const reachable = new Set(hostsOf(args));

  function checkReachable(host: string): void {
    if (reachable.has(canonicalHost(host) ?? "")) return;
    const name = JSON.stringify(host);
    throw new TypeError(
      `${tool.name} connects to ${name}, which no argument of kind url or host names.`,
    );
  }

  const dial: ToolContext["dial"] = async (host, port, call) => {
    checkReachable(host);
    const ended = call === undefined ? signal : AbortSignal.any([signal, call.signal]);
    return network.dial(host, port, { signal: ended, scheme: call?.scheme });
  };

  const permit: ToolContext["permit"] = async (changes) => {
    const changed = { ...args, ...changes };
    const refusal = await ask(changed);
    if (refusal === undefined) for (const host of hostsOf(changed)) reachable.add(host);
    return refusal;
  };

  /** A redirect changes the argument that named where it came from. */
  async function permitRedirect(from: URL, next: URL): Promise<string | undefined> {
    const named = Object.entries(tool.kinds ?? {}).find(([name, kind]) =>
      destinations({ [name]: kind }, args).some(({ host }) => host === hostOf(from)),
    );
    if (named === undefined) return "No argument names it.";
    const [name, kind] = named;
    return permit({ [name]: kind === "url" ? next.href : hostOf(next) });
  }

  return {
    signal,
    async exec(argv, options = {}) {
      if (tool.hostBound !== true)
        throw new TypeError(`${tool.name} runs programs and is not declared hostBound.`);
      return parts.exec(argv, { ...options, signal });
    },
    dial,
    async resolve(host) {
      checkReachable(host);
      return network.resolve(host, { signal });
    },
    connect: (name) => dialEndpoint(network, endpointOf(tool, name), signal),
    http: (call) =>
      requestHttp({ tool, signal, encoder, dial, network, permit: permitRedirect }, call),
    encoder,
    readArtifact: artifact,
    ...(maxBytes !== undefined && { maxBytes }),
    permit,
    asker,
  };
}

async function unpermitted(): Promise<string> {
  return "Nobody can be asked here whether it may.";
}

async function noArtifact(): Promise<never> {
  throw new BotError("NOT_AVAILABLE", "Artifacts can be read only while the tool is run.");
}
