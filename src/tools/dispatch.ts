import type { Effect, JsonObject, Preview } from "../core/entry.ts";
import { messageOf } from "../core/errors.ts";
import { createBreaker } from "./breaker.ts";
import { checkEndpoints } from "./http.ts";
import {
  type CallParts,
  effectOf,
  meantBy,
  type Prepared,
  prepareCall,
  previewOf,
  unknownTool,
  whyElsewhere,
  whyStale,
} from "./prepare-call.ts";
import { blockedCall, type Finished, runCall, type RunOptions, verify } from "./run-call.ts";
import type { Asker, Tool, Verdict } from "./tool.ts";

/** What a tool that does not say what it changes may change. */
const WHOLE_MACHINE = "this machine";

export interface DispatchParts extends CallParts {
  tools: readonly Tool[];
  /**
   * The clock that broken tools are left alone by, in ms, never running backwards. Default: since the process began.
   */
  now?: () => number;
}

/** The only place where tools are run. It does not judge whether they may be: that is policy's, asked before. */
export interface Dispatcher {
  /** The machine that this process runs on, as people and other processes know it. */
  readonly host: string;
  find(name: string): Tool | undefined;
  /**
   * What a call with these arguments does, for policy, cards and the dispatcher alike: its tool's worst, unless they fit its
   * schema and the tool knows that they do less. Without such a tool: destructive. Never throws.
   */
  effectOf(tool: string, args: JsonObject): Effect;
  /**
   * What a call with these checked arguments changes: never two at once on the same (see `Tool.resource`). Never
   * throws.
   */
  resourceOf(tool: string, args: JsonObject): string;
  /** It acts on a machine of ours (`Tool.hostBound`). */
  isHostBound(tool: string): boolean;
  /** This process may take up a call with these arguments, which name a machine if it is for one. */
  isHere(tool: string, args: JsonObject): boolean;
  /** The arguments as this machine reads them (`Tool.meant`). Never throws. */
  meant(tool: string, args: JsonObject): Promise<JsonObject[]>;
  /**
   * Checks the arguments and fixes what they point to, and where the call is for a machine that this is the one. The breaker is asked here and in `revalidate`, not in `run`: by
   * then the call is written down as started. A call that it refuses is "blocked", whatever its effect.
   * @throws BotError TOOL_UNKNOWN, INPUT_INVALID, PRECHECK_FAILED, NOT_AVAILABLE, CIRCUIT_OPEN or what the tool's pin
   * throws
   */
  prepare(tool: string, args: JsonObject, signal: AbortSignal): Promise<Prepared>;
  /** What the card shows. @throws BotError NOT_AVAILABLE for a tool that acts but cannot say what on */
  preview(prepared: Prepared, signal: AbortSignal): Promise<Preview>;
  /** Does what was approved still hold: the same schema, digest, the precheck, the breaker? Why not, or undefined. */
  revalidate(
    tool: string,
    args: JsonObject,
    digest: string,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /**
   * Runs it, within the tool's time limit, and reads back what it did; a read whose connection failed is tried up to
   * three times. Never throws.
   */
  run(tool: string, args: JsonObject, options: RunOptions): Promise<Finished>;
  /** After a crash: what can be seen of a call that was started. `asker` as it was then. Never throws. */
  verify(
    tool: string,
    args: JsonObject,
    startedAt: number,
    signal: AbortSignal,
    asker?: Asker,
  ): Promise<Verdict>;
}

/** @throws BotError CONFIG_INVALID when an endpoint of a tool cannot be used */
export function createDispatcher(parts: DispatchParts): Dispatcher {
  const { tools } = parts;
  const { encode } = parts.encoder;
  checkEndpoints(tools, parts.encoder);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const breaker = createBreaker(parts.now);
  const findTool = (name: string): Tool => {
    const tool = byName.get(name);
    if (tool === undefined) throw unknownTool(name, tools);
    return tool;
  };

  return {
    host: parts.host,

    find: (name) => byName.get(name),

    effectOf: (name, args) => effectOf(byName.get(name), args),

    resourceOf(name, args) {
      try {
        return byName.get(name)?.resource?.(args) ?? WHOLE_MACHINE;
      } catch {
        return WHOLE_MACHINE;
      }
    },

    isHostBound: (name) => byName.get(name)?.hostBound === true,

    isHere(name, args) {
      const tool = byName.get(name);
      return tool === undefined || whyElsewhere(parts, tool, args) === undefined;
    },

    async meant(name, args) {
      const tool = byName.get(name);
      return tool === undefined ? [] : meantBy(tool, args);
    },

    async prepare(name, asked, signal) {
      const prepared = await prepareCall(parts, findTool(name), asked, signal);
      breaker.admit(name, prepared.digest);
      return prepared;
    },

    preview: (prepared, signal) => previewOf(parts, prepared, signal),

    async revalidate(name, args, digest, signal) {
      try {
        const tool = findTool(name);
        const stale = await whyStale(parts, tool, args, { digest, signal });
        if (stale === undefined) breaker.admit(name, digest);
        return stale;
      } catch (error) {
        return encode(messageOf(error));
      }
    },

    async run(name, args, options) {
      const tool = byName.get(name);
      if (tool === undefined) return blockedCall(parts, unknownTool(name, tools).message);
      const elsewhere = whyElsewhere(parts, tool, args);
      if (elsewhere !== undefined) return blockedCall(parts, elsewhere);
      return runCall(parts, breaker, tool, args, options);
    },

    async verify(name, args, startedAt, signal, asker) {
      const tool = byName.get(name);
      const evidence =
        tool === undefined ? `there is no tool ${name} any more` : whyElsewhere(parts, tool, args);
      if (tool === undefined || evidence !== undefined)
        return { verdict: "unknown", evidence: evidence ?? "" };
      return verify(parts, tool, args, { startedAt, signal, asker });
    },
  };
}
