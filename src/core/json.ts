import type { Json, JsonObject } from "./entry.ts";

/** More than any tool nests; zod and JSON walk the stack, which ends at about 2 000. */
export const MAX_DEPTH = 32;

/** `text` as JSON, or undefined when it is not JSON, nests deeper than 32, or has a key `__proto__`, which zod would drop. */
export function tryJson(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** True for an object, not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The same of JSON. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isRecord(value) && isJson(value);
}

/** True for what JSON can say, within that depth. */
export function isJson(value: unknown, depth = MAX_DEPTH): value is Json {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || depth === 0 || Object.hasOwn(value, "__proto__")) return false;
  return Object.values(value).every((inner) => isJson(inner, depth - 1));
}

/** Every text in it, keys too. Not its JSON: an escape such as `\\n` would join its letter to the next word. */
export function textsIn(value: Json): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)]);
}
