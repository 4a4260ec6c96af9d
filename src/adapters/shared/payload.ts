import { isRecord } from "../../core/json.ts";

/** Deeper than any platform nests; what is below is left as it is. */
const MAX_DEPTH = 100;

/** What a platform sent, without what is `null` in it: a field without a value is an absent one. */
export function withoutNulls(value: unknown, depth = 0): unknown {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) {
    return value.filter((each) => each !== null).map((each) => withoutNulls(each, depth + 1));
  }
  const fields = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(fields.map(([name, each]) => [name, withoutNulls(each, depth + 1)]));
}

/** Takes out of a payload, which nobody else has, what is `null` in it: for many payloads a copy of each is too much. */
export function dropNulls(value: unknown, depth = 0): void {
  if (typeof value !== "object" || depth > MAX_DEPTH) return;
  if (Array.isArray(value)) {
    if (value.includes(null)) value.splice(0, Infinity, ...value.filter((each) => each !== null));
    for (const each of value) dropNulls(each, depth + 1);
  } else if (isRecord(value)) {
    for (const name of Object.keys(value)) {
      if (value[name] === null) delete value[name];
      else dropNulls(value[name], depth + 1);
    }
  }
}
