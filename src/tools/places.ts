import type { JsonObject } from "../core/entry.ts";
import { systemOf } from "./find-tools.ts";
import type { Tool } from "./tool.ts";

/** The servers and the system that a tool may act on, by the names that the configuration has for them. */
export function placesOf(tool: Tool): string[] {
  return [...Object.keys(tool.endpoints ?? {}), systemOf(tool)].map(canonical);
}

/**
 * All that a call acts on may be called, in lower case: what its arguments name, its machine, and its system. Where its
 * `instance` names none of the tool's servers it may be any of them.
 */
export function namesIn(tool: Tool, args: JsonObject): Set<string> {
  const named = Object.values(args).flatMap((value) =>
    typeof value === "string" && value.length <= MAX_NAME ? [canonical(value)] : [],
  );
  const servers = Object.keys(tool.endpoints ?? {}).map(canonical);
  // Any other argument may hold the same word: a container may be called as another server.
  const { instance } = args;
  const isNamed = typeof instance === "string" && servers.includes(canonical(instance));
  return new Set([...named, ...(isNamed ? [] : servers), canonical(systemOf(tool))]);
}

export function canonical(name: string): string {
  return name.trim().toLowerCase();
}

/** Longer ones are texts. */
const MAX_NAME = 253;
