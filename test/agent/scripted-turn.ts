import { NO_USAGE, type Usage } from "../../src/core/block.ts";
import type { JsonObject } from "../../src/core/entry.ts";
import type { ModelResponse } from "../../src/models/model.ts";

/** One turn of a model's: words, and calls by tool and arguments. */
export interface Turn {
  text?: string;
  calls?: readonly (readonly [name: string, args: JsonObject])[];
  usage?: Partial<Usage>;
}

export function responseOf({ text, calls = [], usage }: Turn): ModelResponse {
  return {
    content: [
      ...(text === undefined ? [] : [{ kind: "text" as const, text }]),
      ...calls.map(([name, args], at) => ({
        kind: "tool_use" as const,
        id: `c${at}`,
        name,
        input: JSON.stringify(args),
      })),
    ],
    stop: calls.length > 0 ? "tool_use" : "end_turn",
    usage: { ...NO_USAGE, input: 100, output: 10, ...usage },
  };
}
