import type { AssistantBlock } from "../core/block.ts";
import type { Json, JsonObject } from "../core/entry.ts";
import { isRecord } from "../core/json.ts";
import type { FileBlock, TextBlock, ToolResultBlock, Turn } from "./model.ts";

/** What all providers do alike to the turns of a request. */

/** Providers refuse texts without a visible character. */
export function isBlank(text: string): boolean {
  return text.trim() === "";
}

function isBlankText(block: AssistantBlock | TextBlock | FileBlock): boolean {
  return block.kind === "text" && isBlank(block.text);
}

/** A thought that nothing follows, for example because the token limit cut it off. Providers refuse it. */
function isThought(block: AssistantBlock): boolean {
  const type = block.kind === "thinking" && isRecord(block.wire) ? block.wire["type"] : undefined;
  return type === "thinking" || type === "redacted_thinking" || type === "reasoning";
}

/**
 * The turns that the model `id` may get: without blank texts and thoughts that led to nothing. Turns of another model lose
 * their `wire` values, and their calls get ids by position: one provider's ids can have characters or duplicates that
 * another refuses.
 */
export function turnsFor(id: string, turns: readonly Turn[]): Turn[] {
  let renamed = new Map<string, string>();
  return turns.map((turn, place) => {
    if (turn.role === "user") {
      return { ...turn, content: turn.content.filter((block) => !isBlankText(block)) };
    }
    if (turn.role === "tool") {
      const results = turn.results.map((result) => ({
        ...result,
        id: renamed.get(result.id) ?? result.id,
      }));
      return { ...turn, results };
    }
    renamed = new Map();
    const blocks = turn.content.filter((block) => !isBlankText(block));
    if (turn.model === id) {
      const length = blocks.findLastIndex((block) => !isThought(block)) + 1;
      return { ...turn, content: blocks.slice(0, length) };
    }
    const content = blocks.flatMap((block): AssistantBlock[] => {
      if (block.kind === "thinking") return [];
      if (block.kind === "text") return [{ kind: "text", text: block.text }];
      const call = `call_${place}_${renamed.size}`;
      renamed.set(block.id, call);
      return [{ kind: "tool_use", id: call, name: block.name, input: block.input }];
    });
    return { ...turn, content };
  });
}

/**
 * A call's arguments as an object, for servers that parse them: `{}` for an empty text. Anything but a JSON object is
 * wrapped, as Anthropic advises for malformed input.
 */
export function argumentsOf(input: string): JsonObject {
  if (input.trim() === "") return {};
  try {
    // Providers refuse a request with lone surrogates, which a model can write as escapes.
    const value: Json = JSON.parse(input, (_key, part: unknown) =>
      typeof part === "string" ? part.toWellFormed() : part,
    );
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Not JSON, or nested too deeply to be written back.
  }
  return { INVALID_JSON: input.toWellFormed() };
}

/** A result's text for APIs that cannot mark a failure and refuse empty text. */
export function resultText({ text, isError }: ToolResultBlock): string {
  return (isError ? "Error: " : "") + (isBlank(text) ? "(no output)" : text);
}

export function dataUrl({ mediaType, data }: FileBlock): string {
  return `data:${mediaType};base64,${data}`;
}

/** A plain-text file as text, for APIs without such documents. Indented, so no line looks like a speaker's. */
export function fileText(file: FileBlock): string {
  return `File ${JSON.stringify(file.name)}:\n\n  ${plainText(file).replaceAll("\n", "\n  ")}`;
}

export function plainText({ data }: FileBlock): string {
  return Buffer.from(data, "base64").toString("utf8");
}

/** A provider's token count; 0 if it is missing or not a count. */
export function tokens(count: unknown): number {
  return typeof count === "number" && Number.isSafeInteger(count) && count > 0 ? count : 0;
}
