import { exactText } from "../../security/sanitize.ts";
import { isJsonObject, tryJson } from "../../core/json.ts";
import { exactLines } from "../render/phrases.ts";

/**
 * One readable row per argument of a canonical form, empty when it is none. Text keeps its line breaks; nothing else of
 * it can move the cursor or hide.
 */
export function readableArgs(canonical: string): { name: string; value: string }[] {
  const args = tryJson(canonical);
  if (!isJsonObject(args)) return [];
  return Object.entries(args).map(([name, value]) => ({
    name: exactText(name),
    value: typeof value === "string" ? exactLines(value) : exactText(JSON.stringify(value)),
  }));
}
