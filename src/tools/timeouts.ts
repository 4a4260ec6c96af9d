import { globMatches } from "../core/glob.ts";
import type { Tool } from "./tool.ts";

/** Seconds by names of tools, in which `*` stands for anything. */
export type ToolTimeouts = Readonly<Record<string, number>>;

/** The tools with the timeouts that are set for them. The same tool always gives the same one. */
export function createTimeouts(timeouts: ToolTimeouts): (tools: readonly Tool[]) => Tool[] {
  const changed = new WeakMap<Tool, Tool>();
  return (tools) =>
    tools.map((tool) => {
      const seconds = secondsFor(tool.name, timeouts);
      if (seconds === undefined) return tool;
      const known = changed.get(tool);
      if (known !== undefined) return known;
      const next: Tool = { ...tool, timeoutMs: seconds * 1_000, setTimeoutSeconds: seconds };
      changed.set(tool, next);
      return next;
    });
}

function secondsFor(name: string, timeouts: ToolTimeouts): number | undefined {
  if (Object.hasOwn(timeouts, name)) return timeouts[name];
  return Object.entries(timeouts).find(([glob]) => globMatches(glob, name))?.[1];
}

/** What is set, for people: `run_command 900 s; 60 s: docker_logs, http_check`. Undefined: nothing. */
export function timeoutWords(tools: readonly Tool[]): string | undefined {
  const set = tools.filter(({ setTimeoutSeconds: seconds }) => seconds !== undefined);
  if (set.length === 0) return undefined;
  return [...Map.groupBy(set, ({ setTimeoutSeconds: seconds = 0 }) => seconds)]
    .map(([seconds, some]) => `${seconds} s: ${some.map(({ name }) => name).join(", ")}`)
    .join("; ");
}
