import type { AssistantBlock } from "../core/block.ts";
import type { Encoder } from "../security/encoder.ts";
import type { ModelResponse } from "../models/model.ts";
import { LEFT_OUT, MAX_CALLS_PER_TURN } from "../thread/model-run.ts";

/** What one turn may hold: texts together, and arguments of calls together. In characters, so bytes of a JSON in ASCII. */
const MAX_TEXT_LENGTH = 256 * 1_024;
const MAX_INPUT_LENGTH = 256 * 1_024;

/**
 * The turn within its limits, before anything of it is parsed, stored or shown. Of the calls that are too many the first
 * stays and is told so for all of them; arguments that are too long are left out, and their call is told so; a text
 * is cut, and where nothing else was asked for the model is told to write it shorter.
 */
export function limitTurn(
  { content, stop, ...rest }: ModelResponse,
  encoder: Pick<Encoder, "encodeCut" | "reach">,
): ModelResponse {
  let calls = 0;
  let inputLength = 0;
  let textLength = 0;
  let isCut = false;
  const kept = content.flatMap((block): AssistantBlock[] => {
    if (block.kind === "thinking") return [block];
    if (block.kind === "tool_use") {
      calls += 1;
      if (calls > MAX_CALLS_PER_TURN + 1) return [];
      const isTooLong = inputLength + block.input.length > MAX_INPUT_LENGTH;
      if (!isTooLong) inputLength += block.input.length;
      return [isTooLong ? { ...block, input: LEFT_OUT } : block];
    }
    const room = MAX_TEXT_LENGTH - textLength;
    textLength += block.text.length;
    if (block.text.length <= room) return [block];
    isCut = true;
    if (room <= 0) return [];
    const more = block.text.slice(0, room + encoder.reach);
    return [{ kind: "text", text: encoder.encodeCut(more, { before: false, behind: true }) }];
  });
  return { ...rest, content: kept, stop: isCut && calls === 0 ? "max_tokens" : stop };
}
