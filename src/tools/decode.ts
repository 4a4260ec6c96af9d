/** Reading answers of systems by hand, where a schema would hold up the event loop or say too much about what is not used. */

/** An object of an answer. */
export type Item = Record<string, unknown>;

export function isRecord(value: unknown): value is Item {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The objects of a list; leaves out all else. */
export function recordsOf(value: unknown): Item[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** The texts of a list; leaves out all else. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** The text, or an empty one. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The number, or 0. Of JSON, `1e400` is infinite. */
export function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** A number that names something, as text; `0` for anything else. */
export function idOf(value: unknown): string {
  const text = typeof value === "number" ? String(value) : textOf(value);
  return /^\d{1,20}$/.test(text) ? text : "0";
}

/** A word of the system's own, such as a state or a login; empty where it says nothing, `?` where that is no word. */
export function wordOf(value: unknown): string {
  const text = textOf(value);
  return text === "" || /^[\w.@[\]-]{1,100}$/.test(text) ? text : "?";
}

/** The text as JSON; undefined where it is not JSON. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
