import type { JsonObject } from "../../src/core/entry.ts";
import { createNetwork } from "../../src/net/dial.ts";
import type { Encoder } from "../../src/security/encoder.ts";
import { createContext } from "../../src/tools/tool-context.ts";
import type { Tool, ToolContext, ToolOutput } from "../../src/tools/tool.ts";
import { ASKER } from "../fakes/asker.ts";
import { nothingHeld } from "../fakes/encoder.ts";
import { noWorld } from "../fakes/tool-context.ts";
import { LOCAL } from "./dialing.ts";

/** Calls of tools that reach systems of the configuration: over real connections, with Ana as their asker. */

export interface Calling {
  encoder?: Encoder;
  signal?: AbortSignal;
  /** ms since 1970. Default: now. */
  at?: number;
}

/** The tool of that name with a call of it: the arguments as the dispatcher would give them, and what it may use. */
export function prepare(
  tools: readonly Tool[],
  name: string,
  written: JsonObject,
  { encoder = nothingHeld, signal = new AbortController().signal, at = Date.now() }: Calling = {},
): { tool: Tool; args: JsonObject; ctx: ToolContext } {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  const args = tool.input.parse(written) as JsonObject;
  const parts = { ...noWorld, network: createNetwork(LOCAL), encoder };
  const asker = { ...ASKER, startedAt: at };
  return { tool, args, ctx: createContext(parts, tool, { signal, args, asker }) };
}

export async function run(
  tools: readonly Tool[],
  name: string,
  written: JsonObject,
  calling?: Calling,
): Promise<ToolOutput> {
  const { tool, args, ctx } = prepare(tools, name, written, calling);
  return tool.run(args, ctx);
}
