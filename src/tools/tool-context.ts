import { destinations } from "../approvals/egress.ts";
import { canonicalHost } from "../core/canonical.ts";
import type { Encoder } from "../security/encoder.ts";
import type { JsonObject } from "../core/entry.ts";
import { BotError } from "../core/errors.ts";
import type { Asking, ExecOptions, ExecResult, Tool, ToolContext } from "./tool.ts";
import type { Dialed } from "../net/dial.ts";

/** What contexts are made of. */
export interface ContextParts {
  exec(
    argv: readonly string[],
    options: ExecOptions & { signal: AbortSignal },
  ): Promise<ExecResult>;
  dial(host: string, port: number, options: { signal: AbortSignal }): Promise<Dialed>;
  /** What every stored and shown text passes. */
  encoder: Encoder;
}

/** One piece of work with a call: what it is about, and what is there only while the tool is run. */
export interface CallContext {
  signal: AbortSignal;
  args: JsonObject;
  asker?: Asking | undefined;
  artifact?: (id: string) => Promise<Uint8Array>;
  permit?: ((args: JsonObject) => Promise<string | undefined>) | undefined;
}

/**
 * What the tool may use in the call, and no more than it declares: programs only where it is `hostBound`, connections only to
 * the hosts that its arguments name by their `kinds` and those that it was permitted to go on to. Approvals, egress and the
 * machine on a card follow from those fields, so a tool that lacks one fails here instead of passing them by.
 */
export function createContext(
  parts: ContextParts,
  tool: Tool,
  { signal, args, asker, artifact = noArtifact, permit = unpermitted }: CallContext,
): ToolContext {
  const hostsOf = (given: JsonObject) =>
    destinations(tool.kinds ?? {}, given).map(({ host }) => host);
  const reachable = new Set(hostsOf(args));
  return {
    signal,
    async exec(argv, options = {}) {
      if (tool.hostBound !== true)
        throw new TypeError(`${tool.name} runs programs and is not declared hostBound.`);
      return parts.exec(argv, { ...options, signal });
    },
    async dial(host, port) {
      if (!reachable.has(canonicalHost(host.replace(/^\[(.*)\]$/, "$1")) ?? ""))
        throw new TypeError(
          `${tool.name} connects to ${JSON.stringify(host)}, which no argument of kind url or host names.`,
        );
      return parts.dial(host, port, { signal });
    },
    encoder: parts.encoder,
    readArtifact: artifact,
    async permit(changes) {
      const changed = { ...args, ...changes };
      const refusal = await permit(changed);
      if (refusal === undefined) for (const host of hostsOf(changed)) reachable.add(host);
      return refusal;
    },
    asker,
  };
}

async function unpermitted(): Promise<string> {
  return "Nobody can be asked here whether it may.";
}

async function noArtifact(): Promise<never> {
  throw new BotError("NOT_AVAILABLE", "Artifacts can be read only while the tool is run.");
}
