import type { JsonObject } from "../core/entry.ts";
import { messageOf } from "../core/errors.ts";
import { within } from "../core/time-limit.ts";
import type { ToolResult } from "../core/tool-call.ts";
import { type CallParts, effectOf } from "./prepare-call.ts";
import { retryConnection } from "./retry.ts";
import { createContext } from "./tool-context.ts";
import type { DoneAction, Tool, Verdict } from "./tool.ts";

/** Marking that actions were done, by the tools that the configuration lets do so. */

const TIMEOUT_MS = 15_000;

export function createMarks(parts: CallParts & { tools: readonly Tool[] }) {
  const markers = () => parts.tools.filter(({ mark }) => mark !== undefined);

  /** Why it could not be marked, or undefined. */
  async function markBy(tool: Tool, done: DoneAction, signal: AbortSignal) {
    try {
      await within(TIMEOUT_MS, signal, (inner) =>
        retryConnection(inner, async () =>
          tool.mark?.(done, createContext(parts, tool, { signal: inner, args: {} })),
        ),
      );
      return undefined;
    } catch (error) {
      return parts.encoder.encode(`${tool.name}: ${messageOf(error)}`);
    }
  }

  return {
    /** How a call ended, with a mark that is owed where it is done: not for the bot's own records, and not for the marking itself. */
    owed<E extends Pick<ToolResult, "outcome"> | Pick<Verdict, "verdict">>(
      tool: Tool,
      args: JsonObject,
      ended: E,
    ): E & Pick<ToolResult, "marks"> {
      const isDone = "outcome" in ended ? ended.outcome === "ok" : ended.verdict === "done";
      const isMarked = isDone && tool.own !== true && tool.mark === undefined;
      const isWrite = isMarked && effectOf(tool, args) !== "read";
      return isWrite && markers().length > 0 ? { ...ended, marks: true } : ended;
    },

    /** Marks wherever the configuration says that this was done; what failed is given, a sentence each. Never throws. */
    async mark(done: DoneAction, signal: AbortSignal): Promise<string[]> {
      const all = await Promise.all(markers().map((tool) => markBy(tool, done, signal)));
      return all.filter((each) => each !== undefined);
    },
  };
}
