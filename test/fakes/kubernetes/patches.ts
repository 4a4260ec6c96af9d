import type { Obj } from "./resources.ts";

/** Patches as the API server applies them. */

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** RFC 7386. */
function mergedInto(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergedInto(merged[key], value);
  }
  return merged;
}

/** The same, with lists of named items merged by their names. */
function strategically(target: unknown, patch: unknown): unknown {
  if (
    Array.isArray(patch) &&
    Array.isArray(target) &&
    patch.every((item) => isObject(item) && "name" in item)
  ) {
    const names = new Map(patch.map((item: Record<string, unknown>) => [item["name"], item]));
    const merged = target.map((item: Record<string, unknown>) =>
      names.has(item["name"]) ? strategically(item, names.get(item["name"])) : item,
    );
    const added = patch.filter((item: Record<string, unknown>) =>
      target.every((each: Record<string, unknown>) => each["name"] !== item["name"]),
    );
    return [...merged, ...added];
  }
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = strategically(merged[key], value);
  }
  return merged;
}

/** Undefined: it cannot be applied. */
export function patched(before: Obj, patch: Obj[] & Obj, type: string): Obj | undefined {
  if (type === "application/merge-patch+json") return mergedInto(before, patch) as Obj;
  if (type === "application/strategic-merge-patch+json") return strategically(before, patch) as Obj;
  const after = structuredClone(before);
  for (const { op, path, value } of patch) {
    const steps: string[] = path.split("/").slice(1);
    const last = steps.pop() ?? "";
    const inside = steps.reduce((at: Obj | undefined, step) => at?.[step], after);
    if (
      inside === undefined ||
      (op === "test" && JSON.stringify(inside[last]) !== JSON.stringify(value))
    )
      return undefined;
    if (op === "remove") delete inside[last];
    else if (op !== "test") inside[last] = value;
  }
  return after;
}
