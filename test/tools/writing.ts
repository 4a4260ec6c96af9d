import type { JsonObject } from "../../src/core/entry.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { type Calling, prepare } from "./calling.ts";

/** A write, step by step: pinned, then each step on what was pinned. */
export async function writing(
  tools: readonly Tool[],
  name: string,
  written: JsonObject,
  calling?: Calling,
) {
  const { tool, args, ctx } = prepare(tools, name, written, calling);
  const pinned = (tool.pin === undefined ? args : await tool.pin(args, ctx)) as JsonObject;
  return {
    pinned,
    precheck: async () => tool.precheck?.(pinned, ctx),
    preview: async () => tool.preview?.(pinned, ctx),
    run: async () => tool.run(pinned, ctx),
    verify: async (startedAt = Date.now()) => tool.verify?.(pinned, ctx, startedAt),
  };
}
