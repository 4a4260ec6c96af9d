import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../core/entry.ts";
import type { FrozenOutput } from "./case.ts";

/**
 * What tools say in a case. Of the outputs that fit a call the first counts whose `after` has happened, those with one before those
 * without: a world that an action changed. What fits none is undefined.
 */
export function createFrozenWorld(outputs: readonly FrozenOutput[]) {
  const ran = new Set<string>();
  const ordered = [
    ...outputs.filter(({ after }) => after !== undefined),
    ...outputs.filter(({ after }) => after === undefined),
  ];
  return {
    answer(tool: string, args: JsonObject): FrozenOutput | undefined {
      const found = ordered.find(
        (each) =>
          each.tool === tool &&
          (each.after === undefined || ran.has(each.after)) &&
          Object.entries(each.args).every(([name, value]) => isDeepStrictEqual(args[name], value)),
      );
      ran.add(tool);
      return found;
    },
  };
}
