import * as z from "zod";
import type { Json, JsonObject } from "../../core/entry.ts";
import { isJsonObject } from "../../core/json.ts";

/** Where servers put reasoning, which some of them want back under the same name (DeepSeek, Moonshot, vLLM). */
const REASONING = ["reasoning_content", "reasoning"] as const;

/** A model's reasoning as its stream brings it, put together for the field of the message that the server wants it back in. */
export function createThoughts() {
  const texts: Record<string, string> = {};
  let details: JsonObject[] = [];
  let part: JsonObject | undefined;
  return {
    /** Reasoning beside the content: texts, and OpenRouter's `reasoning_details`. */
    take(delta: Record<string, unknown>): void {
      for (const field of REASONING) {
        const piece = delta[field];
        if (typeof piece === "string" && piece !== "") texts[field] = (texts[field] ?? "") + piece;
      }
      for (const piece of records(delta["reasoning_details"])) details = withPiece(details, piece);
    },
    /** A thought that is a part of the content (Mistral). */
    takePart(next: JsonObject): void {
      const text = textIn(part?.["thinking"]) + textIn(next["thinking"]);
      part = { ...part, ...next, thinking: [{ type: "text", text }] };
    },
    /** Undefined when there was none. */
    wire(): Json | undefined {
      const fields = {
        ...texts,
        ...(details.length > 0 && { reasoning_details: details }),
        ...(part !== undefined && { content: [part] }),
      };
      return Object.keys(fields).length === 0 ? undefined : fields;
    },
  };
}

function textIn(parts: unknown): string {
  return records(parts)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("");
}

/** The objects of a list; what is no list of JSON has none. */
export function records(value: unknown): JsonObject[] {
  const parsed = z.array(z.json()).safeParse(value);
  return parsed.success ? parsed.data.filter(isJsonObject) : [];
}

/**
 * OpenRouter's reasoning details with the next piece of the stream: pieces of one block carry its type and index, and their
 * texts add up; what is not a piece of the last block stands for itself. The order must stay as it came.
 */
function withPiece(blocks: JsonObject[], piece: JsonObject): JsonObject[] {
  const last = blocks.at(-1);
  const isSame =
    last !== undefined &&
    last["type"] === piece["type"] &&
    last["index"] === piece["index"] &&
    piece["data"] === undefined;
  if (!isSame) return [...blocks, piece];
  const known = Object.entries(piece).filter(([, value]) => value !== null);
  const merged = { ...last, ...Object.fromEntries(known) };
  for (const field of ["text", "summary"]) {
    const [before, more] = [last[field], piece[field]];
    if (typeof before === "string" && typeof more === "string") merged[field] = before + more;
  }
  return [...blocks.slice(0, -1), merged];
}
