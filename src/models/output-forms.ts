import type { AssistantBlock } from "../core/block.ts";
import type { Caller } from "./errors.ts";
import { ModelError, type ModelResponse, type OutputForm } from "./model.ts";

/**
 * How a provider is made to answer in a form. `format`: by its own setting for the response's text. `tool`: by a function
 * of that schema which it has to call. `words`: by nothing but the prompt.
 */
export type Forcing = "format" | "tool" | "words";

/** Sends a request that wants this form. @throws whatever the provider answers */
export type SendForced = (forcing: Forcing) => Promise<ModelResponse>;

/**
 * Asks by the ways that a wire has for its models, the best first: what one server refuses it may take in another way. The
 * way that worked is kept for the model's next requests.
 */
export function createForcing(ways: readonly Forcing[]) {
  let first = 0;
  return async function ask(
    { name }: OutputForm,
    caller: Caller,
    send: SendForced,
    errorOf: (error: unknown, caller: Caller) => unknown,
  ): Promise<ModelResponse> {
    let refusal: unknown;
    for (const [place, way] of ways.entries()) {
      if (place < first) continue;
      try {
        const response = await send(way);
        first = place;
        return way === "tool" ? asText(response, name) : response;
      } catch (thrown) {
        const error = errorOf(thrown, caller);
        const isRefused = error instanceof ModelError && error.code === "MODEL_REQUEST_INVALID";
        if (!isRefused) throw error;
        // The first says what is wrong with the request itself, should no way be taken.
        refusal ??= error;
      }
    }
    throw refusal;
  };
}

/** The call that it had to make is what it says. */
function asText(response: ModelResponse, name: string): ModelResponse {
  const content = response.content.map((block): AssistantBlock => {
    const isForced = block.kind === "tool_use" && block.name === name;
    return isForced ? { kind: "text", text: block.input } : block;
  });
  return { ...response, content, stop: response.stop === "tool_use" ? "end_turn" : response.stop };
}

/** Describes the function that a model has to call. */
export const FORCED = "Takes your answer. Call it once, with the whole answer.";

/** What a model is told that nothing else forces. */
export function formInWords({ schema }: OutputForm): string {
  return `Answer with one JSON object and nothing else: no prose, no code fence. It has to fit this JSON Schema:\n${JSON.stringify(schema)}`;
}
