import type { AssistantBlock } from "../core/block.ts";
import type { JsonObject } from "../core/entry.ts";
import type { FileBlock, TextBlock, ToolResultBlock, Turn } from "./model.ts";

/** What the three wires do alike to the turns of a request. */

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Providers refuse texts without a visible character. */
export function isBlank(text: string): boolean {
  return text.trim() === "";
}

function isBlankText(block: AssistantBlock | TextBlock | FileBlock): boolean {
  return block.kind === "text" && isBlank(block.text);
}

/** A thought that nothing follows, as when the token limit cut it off: providers refuse it without what it led to. */
function isThought(block: AssistantBlock): boolean {
  const type = block.kind === "thinking" && isRecord(block.wire) ? block.wire["type"] : undefined;
  return type === "thinking" || type === "redacted_thinking" || type === "reasoning";
}

/**
 * The turns as the model `id` may be given them: without blank texts and thoughts that led to nothing. From another
 * model's turns all `wire` values are left out, and their calls are named by their place: ids of one provider can
 * have characters or doubles that another refuses.
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
 * A call's arguments as an object, for wires and servers that parse them: `{}` for none, and what is no JSON object is
 * wrapped, as Anthropic advises for malformed input of a call that is answered with an error.
 */
export function argumentsOf(input: string): JsonObject {
  if (input.trim() === "") return {};
  try {
    // Lone surrogates, which a model can write as escapes, make providers refuse the whole request, each time again.
    const value: unknown = JSON.parse(input, (_key, part: unknown) =>
      typeof part === "string" ? part.toWellFormed() : part,
    );
    if (isJsonObject(value)) return value;
  } catch {
    // Not JSON, or nested too deeply to be written again.
  }
  return { INVALID_JSON: input.toWellFormed() };
}

/** What JSON.parse gave is JSON. */
function isJsonObject(value: unknown): value is JsonObject {
  return isRecord(value);
}

/** A result's text for wires that have no sign for failure and want some text in each case. */
export function resultText({ text, isError }: ToolResultBlock): string {
  return (isError ? "Error: " : "") + (isBlank(text) ? "(no output)" : text);
}

export function dataUrl({ mediaType, data }: FileBlock): string {
  return `data:${mediaType};base64,${data}`;
}

/** A plain-text file as text, for wires that have no documents of this kind: no line of it begins as a speaker's does. */
export function fileText(file: FileBlock): string {
  return `File ${JSON.stringify(file.name)}:\n\n  ${plainText(file).replaceAll("\n", "\n  ")}`;
}

export function plainText({ data }: FileBlock): string {
  return Buffer.from(data, "base64").toString("utf8");
}

/** A provider's count of tokens; what is missing or no count is 0. */
export function tokens(count: unknown): number {
  return typeof count === "number" && Number.isSafeInteger(count) && count > 0 ? count : 0;
}
