import type * as z from "zod";
import { exactText } from "../security/sanitize.ts";
import {
  type Bounds,
  type CheckedEdit,
  type EditField,
  type Mistake,
  WHOLE_FIELD,
} from "../core/edit.ts";
import type { Json, JsonObject } from "../core/entry.ts";
import { isJsonObject, tryJson } from "../core/json.ts";
import { mistakeText } from "../core/zod-issues.ts";
import { checkArguments } from "./arguments.ts";
import { inputForm, settableFields } from "./input-schema.ts";
import type { Tool } from "./tool.ts";

/** A tool's arguments as a form that people fill in, and back. What only the bot fills has no field. */

type JsonSchema = z.core.JSONSchema.BaseSchema;
type Kind = EditField["kind"];

/** One field for each argument that a person may set, filled with what it is now. */
export function editFields(tool: Tool, args: Readonly<JsonObject>): EditField[] {
  return settableFields(tool).map(([name, { schema, required }]) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    const hint = schema.description ?? "";
    const field = { name, hint, optional: !required, ...shown(schema, value) };
    return field.kind === "number" ? { ...field, bounds: boundsOf(schema) } : field;
  });
}

/** The arguments that a person may set, of all that an action has. */
export function settable(tool: Tool, args: Readonly<JsonObject>): JsonObject {
  const { fields } = inputForm(tool);
  const open = Object.entries(args).filter(([name]) => fields.get(name)?.internal !== true);
  return Object.fromEntries(open);
}

/** What was written in these fields, as checked arguments, or every mistake by its field. */
export function readEdit(
  tool: Tool,
  fields: readonly EditField[],
  written: Readonly<Record<string, string>>,
): CheckedEdit {
  const whole = written[WHOLE_FIELD];
  const read = whole === undefined ? readFields(fields, written) : readWhole(whole);
  if (!read.ok) return read;
  const checked = checkArguments(tool, read.args);
  if (checked.ok) return checked;
  const mistakes = checked.mistakes.map(({ argument, where, text }): Mistake => {
    const isField = whole === undefined && fields.some(({ name }) => name === argument);
    if (!isField) return { field: undefined, text: mistakeText(where, text) };
    return { field: argument, text: where === argument ? text : mistakeText(where, text) };
  });
  return { ok: false, mistakes };
}

function readFields(
  fields: readonly EditField[],
  written: Readonly<Record<string, string>>,
): CheckedEdit {
  const args: JsonObject = {};
  const mistakes: Mistake[] = [];
  for (const field of fields) {
    const text = written[field.name] ?? "";
    if (text.trim() === "") continue;
    const value = READERS[field.kind](text, field);
    if (value === undefined) mistakes.push({ field: field.name, text: FORMS[field.kind](text) });
    else args[field.name] = value;
  }
  return mistakes.length > 0 ? { ok: false, mistakes } : { ok: true, args };
}

function readWhole(text: string): CheckedEdit {
  const args = tryJson(text);
  if (isJsonObject(args)) return { ok: true, args };
  const problem = `This is not one JSON object such as {"name": "value"}; please correct it.${curly(text)}`;
  return { ok: false, mistakes: [{ field: undefined, text: problem }] };
}

const READERS: Readonly<Record<Kind, (text: string, field: EditField) => Json | undefined>> = {
  text: (text) => text,
  // An element is taken as it stands, spaces included: it is one argument of a program, for example.
  lines: (text) => text.split(/\r?\n/).filter((line) => line.trim() !== ""),
  number: (text) => (/^\s*-?\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined),
  choice: (text, { choices }) => {
    const chosen = choices.find((choice) => choice === text.trim());
    return chosen !== undefined && isTruth(choices) ? chosen === "true" : chosen;
  },
  json: (text) => tryJson(text),
};

/** How a field that could not be read has to be written. */
const FORMS: Readonly<Record<Kind, (text: string) => string>> = {
  text: () => "write a text",
  lines: () => "write one element per line",
  number: () => "write a number such as 30",
  choice: () => "choose one of those offered",
  json: (text) => `this is not JSON; please correct it.${curly(text)}`,
};

function curly(text: string): string {
  return /[“”„]/.test(text) ? ' It has curly quotes (“); JSON needs straight ones (").' : "";
}

const TRUTH = ["true", "false"];

function isTruth(choices: readonly string[]): boolean {
  return choices.length === TRUTH.length && TRUTH.every((word) => choices.includes(word));
}

/** What is not a bound for people, as that of every whole number, is left out. */
function boundsOf(schema: JsonSchema): Bounds {
  const { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const isWhole = type === "integer";
  const step = (bound: unknown, by: number) =>
    isWhole && typeof bound === "number" ? bound + by : undefined;
  const told = (bound: number | undefined) =>
    bound !== undefined && /^-?[\d.]{1,15}$/.test(String(bound)) ? bound : undefined;
  return {
    isWhole,
    min: told(minimum ?? step(exclusiveMinimum, 1)),
    max: told(maximum ?? step(exclusiveMaximum, -1)),
  };
}

/** The simplest kind of field that gives the value back exactly. */
function shown(
  schema: JsonSchema,
  value: Json | undefined,
): Pick<EditField, "kind" | "choices" | "value"> {
  const { kind, choices } = kindOf(schema);
  if (value === undefined) return { kind, choices, value: "" };
  const text = WRITERS[kind](value);
  if (text !== undefined) return { kind, choices, value: text };
  return { kind: "json", choices: [], value: exactText(JSON.stringify(value)) };
}

const WRITERS: Readonly<Record<Kind, (value: Json) => string | undefined>> = {
  text: (value) => (typeof value === "string" && isVisible(value, true) ? value : undefined),
  lines: (value) => {
    if (!Array.isArray(value)) return undefined;
    const lines = value.flatMap((each) =>
      typeof each === "string" && isVisible(each, false) ? [each] : [],
    );
    return lines.length === value.length ? lines.join("\n") : undefined;
  },
  number: (value) => (typeof value === "number" ? String(value) : undefined),
  choice: (value) => (isPrimitive(value) ? String(value) : undefined),
  json: (value) => exactText(JSON.stringify(value)),
};

function isPrimitive(value: Json): value is string | boolean | number {
  return ["string", "boolean", "number"].includes(typeof value);
}

/** Every character of it is seen, and none is lost by a platform that trims what is typed. */
function isVisible(text: string, mayHaveLines: boolean): boolean {
  if (text.trim() !== text || text === "") return false;
  const lines = mayHaveLines ? text.split("\n") : [text];
  return lines.every((line) => exactText(line) === line);
}

function kindOf(schema: JsonSchema): { kind: Kind; choices: string[] } {
  const { type, enum: listed, items } = schema;
  if (listed !== undefined && listed.every((one) => typeof one === "string")) {
    return { kind: "choice", choices: listed };
  }
  if (type === "boolean") return { kind: "choice", choices: TRUTH };
  if (type === "integer" || type === "number") return { kind: "number", choices: [] };
  if (type === "string") return { kind: "text", choices: [] };
  const element = typeof items === "object" && !Array.isArray(items) ? items.type : undefined;
  return { kind: type === "array" && element === "string" ? "lines" : "json", choices: [] };
}
