import type { JsonObject } from "../core/entry.ts";
import { messageOf } from "../core/errors.ts";
import type { ToolResult } from "../core/tool-call.ts";
import { createBreaker } from "./breaker.ts";
import { checkEndpoints } from "./http.ts";
import { createMarks } from "./marks.ts";
import { createPages } from "./pages.ts";
import {
  type CallParts,
  effectOf,
  meantBy,
  type Prepared,
  type Looking,
  prepareCall,
  previewOf,
  unknownTool,
  whyElsewhere,
  whyStale,
} from "./prepare-call.ts";
import {
  blockedCall,
  type LaterLook,
  runCall,
  type RunOptions,
  verify,
  verifyLater,
  whyUnseen,
} from "./run-call.ts";
import type { Asker, Tool, Verdict } from "./tool.ts";

/** What a tool that does not say what it changes may change. */
const WHOLE_MACHINE = "this machine";

export interface DispatchParts extends CallParts {
  /** Looked at anew for each call. */
  tools: readonly Tool[];
  /**
   * The clock that broken tools are left alone by, in ms, never running backwards. Default: since the process began.
   */
  now?: () => number;
}

/** How a call was asked for. */
interface Asked extends Looking {
  /** A person or a model; the bot itself may fill internal arguments. */
  by?: "person" | "bot";
}

export type Dispatcher = ReturnType<typeof createDispatcher>;

/**
 * The only place where tools are run. It does not judge whether they may be: that is policy's, asked before.
 * @throws BotError CONFIG_INVALID when an endpoint of a tool cannot be used
 */
export function createDispatcher(parts: DispatchParts) {
  const { tools, host } = parts;
  checkEndpoints(tools, parts.encoder);
  const [breaker, marks] = [createBreaker(parts.now, parts.events), createMarks(parts)];
  const find = (name: string): Tool | undefined => tools.find((tool) => tool.name === name);
  const findKnown = (name: string): Tool => knownTool(name, tools);

  return {
    /** The machine that this process runs on, as people and other processes know it. */
    host,
    find,

    /**
     * What a call with these arguments does, for policy, cards and the dispatcher alike: its tool's worst, unless they fit its
     * schema and the tool knows that they do less. Without such a tool: destructive. Never throws.
     */
    effectOf: (name: string, args: JsonObject) => effectOf(find(name), args),

    /** What a call with these checked arguments changes: never two at once on the same (see `Tool.resource`). Never throws. */
    resourceOf(name: string, args: JsonObject): string {
      try {
        return find(name)?.resource?.(args) ?? WHOLE_MACHINE;
      } catch {
        return WHOLE_MACHINE;
      }
    },

    /** It acts on a machine of ours (`Tool.hostBound`). */
    isHostBound: (name: string) => find(name)?.hostBound === true,

    /** This process may take up a call with these arguments, which name a machine if it is for one. */
    isHere(name: string, args: JsonObject): boolean {
      const tool = find(name);
      return tool === undefined || whyElsewhere(parts, tool, args) === undefined;
    },

    /** The arguments as this machine reads them (`Tool.meant`). Never throws. */
    async meant(name: string, args: JsonObject): Promise<JsonObject[]> {
      const tool = find(name);
      return tool === undefined ? [] : meantBy(tool, args);
    },

    /**
     * Checks the arguments and fixes what they point to, and where the call is for a machine that this is the one. The breaker
     * is asked here and in `revalidate`, not in `run`: by then the call is written down as started. A call that it refuses is
     * "blocked", whatever its effect.
     * @throws BotError TOOL_UNKNOWN, INPUT_INVALID, PRECHECK_FAILED, NOT_AVAILABLE, CIRCUIT_OPEN or what the tool's pin
     * throws
     */
    async prepare(
      name: string,
      asked: JsonObject,
      signal: AbortSignal,
      { by = "person", ...looking }: Asked = {},
    ): Promise<Prepared> {
      const prepared = await prepareCall(parts, findKnown(name), { asked, by, ...looking }, signal);
      breaker.admit(name, prepared.digest);
      return prepared;
    },

    /** What the card shows. @throws BotError NOT_AVAILABLE for a tool that acts but cannot say what on */
    preview: (prepared: Prepared, signal: AbortSignal, looking: Pick<Looking, "viewer"> = {}) =>
      previewOf(parts, prepared, signal, looking),

    /** Does what was approved still hold: the same schema, digest, the precheck, the breaker? Why not, or undefined. */
    async revalidate(
      name: string,
      args: JsonObject,
      digest: string,
      signal: AbortSignal,
    ): Promise<string | undefined> {
      try {
        const stale = await whyStale(parts, findKnown(name), args, { digest, signal });
        if (stale === undefined) breaker.admit(name, digest);
        return stale;
      } catch (error) {
        return parts.encoder.encode(messageOf(error));
      }
    },

    /**
     * Runs it, within the tool's time limit, and reads back what it did; a read whose connection failed is tried up to
     * three times. Never throws.
     */
    async run(name: string, args: JsonObject, options: RunOptions): Promise<ToolResult> {
      const tool = find(name);
      const obstacle =
        tool === undefined ? unknownTool(name, tools).message : whyNot(parts, tool, args, options);
      if (tool === undefined || obstacle !== undefined) return blockedCall(parts, obstacle ?? "");
      return marks.owed(tool, args, await runCall(parts, breaker, tool, args, options));
    },

    /** What can be seen a while after a call that is done (`Tool.verifyLater`), unless its tool is another by now. Never throws. */
    verifyLater: (name: string, args: JsonObject, look: LaterLook) =>
      verifyLater(parts, find(name), args, look),

    mark: marks.mark,
    pages: createPages(parts),

    /** After a crash: what can be seen of a call that was started. `asker` as it was then. Never throws. */
    async verify(
      name: string,
      args: JsonObject,
      startedAt: number,
      signal: AbortSignal,
      asker?: Asker,
    ): Promise<Verdict & Pick<ToolResult, "marks">> {
      const tool = find(name);
      const evidence = whyUnseen(parts, tool, args);
      if (tool === undefined || evidence !== undefined)
        return { verdict: "unknown", evidence: evidence ?? "" };
      return marks.owed(tool, args, await verify(parts, tool, args, { startedAt, signal, asker }));
    },
  };
}

/** @throws BotError TOOL_UNKNOWN */
function knownTool(name: string, tools: readonly Tool[]): Tool {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) throw unknownTool(name, tools);
  return tool;
}

/** Why a call is not run here. The run decides what it may do, not what is open by now: who began as a reader stays one. */
function whyNot(
  parts: CallParts,
  tool: Tool,
  args: JsonObject,
  { readsOnly }: RunOptions,
): string | undefined {
  if (readsOnly === true && effectOf(tool, args) !== "read") return "Its run only reads.";
  return whyElsewhere(parts, tool, args);
}
