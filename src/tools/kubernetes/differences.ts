import { isDeepStrictEqual } from "node:util";
import type { Json, JsonObject } from "../../core/entry.ts";
import { cell } from "./format.ts";
import { isObject, listAt, textAt } from "./objects.ts";
import { withoutSecretEnv } from "./secrecy.ts";

/** What differs between two states of an object. */

/** Set by the server whenever anything changes. */
const OWN = new Set([
  "managedFields",
  "resourceVersion",
  "generation",
  "selfLink",
  "uid",
  "creationTimestamp",
]);

/** `spec.replicas: 3 → 5`, a line for each place. Items of lists are told apart by their names. */
export function changeLines(before: JsonObject, after: JsonObject): string[] {
  const lines: string[] = [];
  compare(withoutSecretEnv(before), withoutSecretEnv(after), "", lines);
  return lines;
}

function compare(
  before: Json | undefined,
  after: Json | undefined,
  path: string,
  lines: string[],
): void {
  if (isDeepStrictEqual(before, after)) return;
  const [a, b] = [parts(before), parts(after)];
  if (a === undefined || b === undefined) {
    lines.push(`${path || "object"}: ${shown(before)} → ${shown(after)}`);
    return;
  }
  for (const key of new Set([...a.keys(), ...b.keys()])) {
    if (OWN.has(key)) continue;
    const place = key.startsWith("[") ? `${path}${key}` : path === "" ? key : `${path}.${key}`;
    compare(a.get(key), b.get(key), place, lines);
  }
}

/** What is inside, by its place; undefined for what has no places. */
function parts(value: Json | undefined): Map<string, Json> | undefined {
  if (isObject(value)) return new Map(Object.entries(value));
  if (!Array.isArray(value)) return undefined;
  const named = listAt(value);
  const isNamed =
    named.length === value.length && named.every((item) => textAt(item, "name") !== "");
  return new Map(value.map((item, index) => [`[${isNamed ? textAt(item, "name") : index}]`, item]));
}

function shown(value: Json | undefined): string {
  if (value === undefined) return "(none)";
  return cell(typeof value === "string" ? value : JSON.stringify(value), 160);
}

/** The JSON merge patch (RFC 7386) that makes one of the other; what the server sets itself is left alone. */
export function mergePatch(from: JsonObject, to: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    if (OWN.has(key)) continue;
    const [before, after] = [from[key], to[key]];
    if (isDeepStrictEqual(before, after)) continue;
    if (after === undefined) patch[key] = null;
    else if (isObject(before) && isObject(after)) patch[key] = mergePatch(before, after);
    else patch[key] = after;
  }
  return Object.fromEntries(
    Object.entries(patch).filter(([, value]) => !isObject(value) || Object.keys(value).length > 0),
  );
}
