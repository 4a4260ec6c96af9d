import * as z from "zod";

/** The JSON types that stand at a path, such as `message.files[].size`. */
export type Form = ReadonlyMap<string, ReadonlySet<string>>;

export type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** Under these the keys are names that somebody chose. */
const NAMED = /\.values(\.\*)?$/;

/**
 * All that these values have, each under the name of its kind. `kindOf` names what is one kind wherever it stands, by its
 * key and value.
 */
export function formOf(
  values: Iterable<readonly [kind: string, value: unknown]>,
  kindOf: (key: string, value: unknown) => string | undefined,
): Form {
  const form = new Map<string, Set<string>>();
  const visit = (value: unknown, path: string, key: string): void => {
    form.set(path, (form.get(path) ?? new Set()).add(typeOf(value)));
    const place = kindOf(key, value) ?? path;
    if (Array.isArray(value)) for (const each of value) visit(each, `${place}[]`, "");
    if (!isFields(value)) return;
    for (const [name, each] of Object.entries(value)) {
      visit(each, `${place}.${NAMED.test(place) ? "*" : name}`, name);
    }
  };
  for (const [kind, value] of values) visit(value, kind, "");
  return form;
}

/** The fields that a schema reads, with every type that it takes. */
export function readBy(kind: string, schema: z.ZodType): Form {
  const form = new Map<string, Set<string>>();
  const visit = (json: unknown, path: string): void => {
    if (!isFields(json)) return;
    const { type, properties, items, prefixItems, anyOf, additionalProperties } = json;
    const types = form.get(path) ?? new Set();
    form.set(path, types);
    if (typeof type === "string") types.add(type === "integer" ? "number" : type);
    if (isFields(properties)) {
      for (const [key, each] of Object.entries(properties)) visit(each, `${path}.${key}`);
    }
    visit(additionalProperties, `${path}.*`);
    visit(items, `${path}[]`);
    for (const each of Array.isArray(prefixItems) ? prefixItems : []) visit(each, `${path}[]`);
    for (const each of Array.isArray(anyOf) ? anyOf : []) visit(each, path);
  };
  visit(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }), kind);
  return form;
}

/**
 * The fields that no record has with this type, or, with `any`, with any of these types. Null is a way of leaving a field
 * out.
 */
export function unrecorded(form: Form, recorded: Form, { any = false } = {}): string[] {
  return [...form].flatMap(([path, types]) => {
    const known = recorded.get(path);
    const missing = [...types].filter(
      (type) => known?.has(type) !== true && (type !== "null" || known === undefined),
    );
    if (missing.length === 0 || (any && missing.length < types.size)) return [];
    return [`${path}: ${missing.join(", ")}`];
  });
}

/** What is left of these without those under a path that is documented elsewhere, and the paths that excuse nothing. */
export function unexcused(fields: readonly string[], documented: readonly string[]): string[] {
  const isUnder = (field: string, path: string) =>
    field.startsWith(path) && /^[:.[]/.test(field.slice(path.length));
  return [
    ...fields.filter((field) => !documented.some((path) => isUnder(field, path))),
    ...documented.filter((path) => !fields.some((field) => isUnder(field, path))),
  ];
}
