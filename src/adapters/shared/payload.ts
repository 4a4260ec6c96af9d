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
