import type { AssistantBlock, StopReason, Usage } from "../../src/core/block.ts";
import { NO_USAGE } from "../../src/core/block.ts";
import type { JsonObject } from "../../src/core/entry.ts";
import { BotError } from "../../src/core/errors.ts";
import type {
  GenerateOptions,
  Model,
  ModelRequest,
  ModelResponse,
} from "../../src/models/model.ts";

/** What a scripted model says: words, calls, or anything in full. */
export interface Line {
  text?: string;
  calls?: { name: string; args?: JsonObject; input?: string; id?: string }[];
  stop?: StopReason;
  usage?: Partial<Usage>;
}

export type Saying =
  | Line
  | ((request: ModelRequest, options: GenerateOptions) => Line | Promise<Line>);

export interface ScriptedModel extends Model {
  /** Every request it was given, in order. */
  requests: ModelRequest[];
  /** What of the script is left: a test whose run stopped early sees it. */
  left(): number;
}

/** A model that says what the script says, line by line, and fails when the script is over. Its tokens stream word by word. */
export function scriptedModel(script: readonly Saying[], id = "test/scripted"): ScriptedModel {
  const requests: ModelRequest[] = [];
  let ids = 0;
  const say = async (request: ModelRequest, options: GenerateOptions): Promise<ModelResponse> => {
    const saying = script[requests.length];
    requests.push(request);
    if (saying === undefined) throw new Error(`the script has only ${script.length} lines`);
    const line = typeof saying === "function" ? await saying(request, options) : saying;
    if (options.signal.aborted) throw new BotError("ABORTED", "It was stopped.");
    for (const word of line.text?.split(/(?<= )/) ?? []) options.onDelta?.(word);
    const calls = line.calls ?? [];
    const content: AssistantBlock[] = [
      ...(line.text === undefined ? [] : [{ kind: "text" as const, text: line.text }]),
      ...calls.map(({ name, args = {}, input, id: given }) => ({
        kind: "tool_use" as const,
        id: given ?? `toolu_${++ids}`,
        name,
        input: input ?? JSON.stringify(args),
      })),
    ];
    const stop = line.stop ?? (calls.length > 0 ? "tool_use" : "end_turn");
    return { content, stop, usage: { ...NO_USAGE, input: 100, output: 10, ...line.usage } };
  };
  return {
    id,
    contextWindow: 100_000,
    requests,
    left: () => script.length - requests.length,
    generate: say,
  };
}

/** Waits until the request is aborted, as a model that never comes to an end. */
export const silence: Saying = (_request, { signal }) =>
  new Promise((_resolve, reject) => {
    signal.throwIfAborted();
    signal.addEventListener("abort", () => reject(new BotError("ABORTED", "It was stopped.")), {
      once: true,
    });
  });
