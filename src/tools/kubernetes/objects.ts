import type { Json, JsonObject } from "../../core/entry.ts";
import { numberOf } from "../decode.ts";

/** Reading what the API server sent, which may be anything: a place that is not there, or is of another type, reads as empty. */

type PathPart = string | number;

/** True for an object, not a list; what JSON.parse made is not walked through. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function at(value: Json | undefined, ...path: readonly PathPart[]): Json | undefined {
  let found = value;
  for (const step of path) {
    if (typeof step === "number") found = Array.isArray(found) ? found[step] : undefined;
    else found = isObject(found) && Object.hasOwn(found, step) ? found[step] : undefined;
  }
  return found;
}

export function textAt(value: Json | undefined, ...path: readonly PathPart[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}

/** 0 for none. */
export function numberAt(value: Json | undefined, ...path: readonly PathPart[]): number {
  return numberOf(at(value, ...path));
}

export function objectAt(value: Json | undefined, ...path: readonly PathPart[]): JsonObject {
  const found = at(value, ...path);
  return isObject(found) ? found : {};
}

/** The objects in a list. */
export function listAt(value: Json | undefined, ...path: readonly PathPart[]): JsonObject[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter(isObject) : [];
}

/** The texts in a list. */
export function textsAt(value: Json | undefined, ...path: readonly PathPart[]): string[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter((item) => typeof item === "string") : [];
}

/** Labels, annotations: the texts in an object. */
export function mapAt(
  value: Json | undefined,
  ...path: readonly PathPart[]
): Record<string, string> {
  const entries = Object.entries(objectAt(value, ...path));
  return Object.fromEntries(
    entries.flatMap(([key, text]) => (typeof text === "string" ? [[key, text]] : [])),
  );
}

export function nameOf(object: JsonObject): string {
  return textAt(object, "metadata", "name");
}

export function namespaceOf(object: JsonObject): string {
  return textAt(object, "metadata", "namespace");
}

export function uidOf(object: JsonObject): string {
  return textAt(object, "metadata", "uid");
}

/** The owner that controls it, which makes it anew when it is gone. */
export function controllerOf(object: JsonObject): JsonObject | undefined {
  return listAt(object, "metadata", "ownerReferences").find(
    (owner) => owner["controller"] === true,
  );
}

export function conditionOf(object: JsonObject, type: string): JsonObject | undefined {
  return listAt(object, "status", "conditions").find((condition) => condition["type"] === type);
}

/** A selector of a workload, as the API takes it in a query; undefined for one that selects nothing. */
export function selectorText(selector: JsonObject): string | undefined {
  const equal = Object.entries(mapAt(selector, "matchLabels")).map(
    ([key, value]) => `${key}=${value}`,
  );
  const sets = listAt(selector, "matchExpressions").map((expression) => {
    const key = textAt(expression, "key");
    const values = textsAt(expression, "values").join(",");
    switch (textAt(expression, "operator")) {
      case "In":
        return `${key} in (${values})`;
      case "NotIn":
        return `${key} notin (${values})`;
      case "DoesNotExist":
        return `!${key}`;
      default:
        return key;
    }
  });
  const all = [...equal, ...sets];
  return all.length === 0 ? undefined : all.join(",");
}

/** `250m` is 0.25, `128Mi` is 134217728: a quantity in its base unit (cores, bytes, pieces). */
export function quantity(text: Json | undefined): number {
  if (typeof text === "number") return text;
  const [, digits = "", suffix = ""] =
    /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([numkMGTPE]?i?)$/.exec(typeof text === "string" ? text : "") ??
    [];
  const value = Number(digits);
  return digits === "" || Number.isNaN(value) ? 0 : value * (UNITS[suffix] ?? 1);
}

const UNITS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};
