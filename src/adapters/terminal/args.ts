import { exactText } from "../../core/display.ts";
import type { JsonObject } from "../../core/entry.ts";
import { exactLines } from "../words.ts";

/** The JSON object that `text` is, or why it is none, in words for whoever typed it. */
export function readArgs(text: string): { args: JsonObject } | { why: string } {
  let args: unknown;
  try {
    args = JSON.parse(text);
  } catch (error) {
    return { why: `That is not JSON: ${error instanceof Error ? error.message : "unreadable"}.` };
  }
  return isJsonObject(args) ? { args } : { why: "Arguments are one JSON object, {…}." };
}

/** True for what JSON.parse gave and that is neither a list nor a bare value. */
function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * One readable row per argument of a canonical form, empty when it is none. Text keeps its line breaks; nothing else of
 * it can move the cursor or hide.
 */
export function readableArgs(canonical: string): { name: string; value: string }[] {
  const read = readArgs(canonical);
  if ("why" in read) return [];
  return Object.entries(read.args).map(([name, value]) => ({
    name: exactText(name),
    value: typeof value === "string" ? exactLines(value) : exactText(JSON.stringify(value)),
  }));
}
