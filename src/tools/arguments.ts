import { unknownName } from "../core/suggest.ts";
import { issueText, pathText } from "../core/zod-issues.ts";
import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import * as z from "zod";
import type { JsonObject } from "../core/entry.ts";
import { isJson, isJsonObject, MAX_DEPTH, tryJson } from "../core/json.ts";
import type { Tool } from "./tool.ts";

/**
 * People's and models' arguments, checked against a tool's zod schema, and the schema described to people.
 *
 * The convention for schemas: a `z.strictObject` of JSON values whose parse is idempotent (what comes out goes in again
 * unchanged). Required fields have `.meta({ examples: [<value>] })`, of which an example command is made. Fields that only
 * the bot fills, such as `pinned` or `started`, are optional and marked with `.meta({ internal: true })`: nobody may give
 * them and no description shows them.
 */

type JsonSchema = z.core.JSONSchema.BaseSchema;

interface Field {
  schema: JsonSchema;
  required: boolean;
  internal: boolean;
}

/**
 * Checked arguments with defaults filled in, or what to tell whoever gave them: every mistake, the form, an example; and
 * the mistakes alone, each with the argument it is in.
 */
export type CheckedArguments =
  | { ok: true; args: JsonObject }
  | { ok: false; problem: string; mistakes: ArgumentMistake[] };

/** `argument` undefined: it is in all of them together. `where` also says which part of it, as in `argv[2]`. */
interface ArgumentMistake {
  argument: string | undefined;
  where: string;
  text: string;
}

/**
 * Reads typed arguments: each text as it is where the schema takes it, else as JSON, so that `port=443`,
 * `argv='["uptime"]'` and `url=https://…` all do. The whole is then checked as by `checkArguments`.
 */
export function readArguments(tool: Tool, raw: Readonly<Record<string, string>>): CheckedArguments {
  const values: JsonObject = { ...raw };
  const misfits = brokenKeys(tool, values);
  const parsed: string[] = [];
  for (const [key, text] of Object.entries(raw)) {
    const value = misfits.has(key) || misfits.has(WHOLE) ? tryJson(text) : undefined;
    if (value === undefined || typeof value === "string") continue;
    values[key] = value;
    parsed.push(key);
  }
  const still = brokenKeys(tool, values);
  for (const key of parsed) {
    // Where texts are taken, what is wrong with the text is the mistake to report, not that a number is none.
    if (still.has(key) && misfits.get(key) !== "invalid_type") values[key] = raw[key] ?? "";
  }
  return checkArguments(tool, values);
}

/**
 * Checks structured arguments: a model's, an edit's, or, `by` the bot, pinned ones, which may have internal fields.
 * Unknown names are mistakes also where the schema would drop them.
 */
export function checkArguments(
  tool: Tool,
  args: Readonly<JsonObject>,
  by: "person" | "bot" = "person",
  { fields, open } = inputForm(tool),
): CheckedArguments {
  const mistakes: ArgumentMistake[] = [];
  if (!isJson(args)) {
    const text = `they nest deeper than ${MAX_DEPTH}`;
    mistakes.push({ argument: undefined, where: "arguments", text });
    return { ok: false, problem: explain(tool, fields, mistakes), mistakes };
  }
  const offered = [...fields].filter(([, field]) => !field.internal).map(([name]) => name);
  for (const name of Object.keys(args)) {
    const field = fields.get(name);
    const mistake = { argument: name, where: name };
    if (!field && !open) mistakes.push({ ...mistake, text: unknownName(name, offered) });
    else if (field?.internal && by === "person") {
      mistakes.push({ ...mistake, text: "the bot fills this in itself; leave it out" });
    }
  }
  const result = tool.input.safeParse(args);
  for (const issue of result.error?.issues ?? []) {
    if (issue.code === "unrecognized_keys" && issue.path.length === 0) continue;
    const missing = issue.path.length === 1 && !Object.hasOwn(args, String(issue.path[0]));
    mistakes.push({
      argument: issue.path.length === 0 ? undefined : String(issue.path[0]),
      where: pathText(issue.path) || "arguments",
      text: issueText(issue, missing),
    });
  }
  if (result.success && mistakes.length === 0 && isJsonObject(result.data)) {
    return { ok: true, args: result.data };
  }
  return { ok: false, problem: explain(tool, fields, mistakes), mistakes };
}

/** One line for people: `http_check url=<url> [method=GET|HEAD]`; what is in brackets may be left out. */
export function describeInput(tool: Tool): string {
  return form(tool.name, inputForm(tool).fields);
}

/** The names a person may give, in the schema's order. */
export function argumentNames(tool: Tool): string[] {
  return [...inputForm(tool).fields].filter(([, field]) => !field.internal).map(([name]) => name);
}

/**
 * The tool as a model is told it: an object's JSON schema, variants merged, since model providers take no union at the top,
 * without the fields that only the bot fills.
 */
export function toolSpec(tool: Tool): { name: string; description: string; schema: JsonObject } {
  const offered = [...inputForm(tool).fields].filter(([, field]) => !field.internal);
  const properties = Object.fromEntries(offered.map(([name, { schema }]) => [name, schema]));
  const required = offered.flatMap(([name, field]) => (field.required ? [name] : []));
  const schema = z
    .record(z.string(), z.json())
    .parse({ type: "object", properties, required, additionalProperties: false });
  return { name: tool.name, description: tool.description, schema };
}

/**
 * The typed command that reads back as these arguments. Only a number, a boolean or a list in a place that takes texts
 * as well comes back as text.
 */
export function commandLine(tool: string, args: Readonly<JsonObject>): string {
  const words = Object.entries(args).map(
    ([name, value]) =>
      `${name}=${quoted(typeof value === "string" ? value : JSON.stringify(value))}`,
  );
  return ["run", tool, ...words].join(" ");
}

/** Stands for all arguments together; no argument has this name. */
const WHOLE = "";

/** Top-level arguments that do not fit, with zod's code for why. */
function brokenKeys(tool: Tool, args: JsonObject): ReadonlyMap<string, string> {
  const issues = tool.input.safeParse(args).error?.issues ?? [];
  return new Map(
    issues
      .filter((issue) => issue.code !== "unrecognized_keys")
      .map((issue) => [String(issue.path[0] ?? WHOLE), issue.code]),
  );
}

function jsonSchema(tool: Tool): JsonSchema {
  return z.toJSONSchema(tool.input, { io: "input", unrepresentable: "any" });
}

/** A tool's input as checks need it. Making it takes many times as long as checking by it. */
export interface InputForm {
  /** Those of a union's variants together. */
  fields: Map<string, Field>;
  /** It takes names that it does not list. */
  open: boolean;
  /** SHA-256, hexadecimal, over the canonical form (RFC 8785) of the JSON schema, internal fields included. */
  schemaHash: string;
}

export function inputForm(tool: Tool): InputForm {
  const schema = jsonSchema(tool);
  const variants = schema.anyOf ?? schema.oneOf ?? [schema];
  const fields = new Map<string, Field>();
  for (const variant of variants) {
    for (const [name, property] of Object.entries(variant.properties ?? {})) {
      if (typeof property === "boolean") continue;
      fields.set(name, {
        schema: fields.get(name)?.schema ?? property,
        required: variants.every((each) => each.required?.includes(name)),
        internal: property["internal"] === true,
      });
    }
  }
  const open = variants.every(
    (variant) =>
      variant.additionalProperties !== undefined && variant.additionalProperties !== false,
  );
  return { fields, open, schemaHash: hash("sha256", canonicalize(schema) ?? "", "hex") };
}

function explain(
  tool: Tool,
  fields: Map<string, Field>,
  mistakes: readonly ArgumentMistake[],
): string {
  const example = exampleOf(fields);
  return [
    `${tool.name} cannot take these arguments:`,
    ...mistakes.map(({ where, text }) => `- ${where}: ${text}`),
    `Form: run ${form(tool.name, fields)}`,
    ...(example ? [`Example: ${commandLine(tool.name, example)}`] : []),
  ].join("\n");
}

/**
 * The required arguments with the values that the schema itself has as examples. Undefined when one has none: a made-up
 * number or name might be someone's process or host.
 */
function exampleOf(fields: Map<string, Field>): JsonObject | undefined {
  const example: JsonObject = {};
  for (const [name, { schema, required, internal }] of fields) {
    if (!required || internal) continue;
    const own: unknown[] = [...(schema.examples ?? []), schema.const, ...(schema.enum ?? [])];
    const value = own.find((one) => isJson(one));
    if (value === undefined) return undefined;
    example[name] = value;
  }
  return example;
}

function form(name: string, fields: Map<string, Field>): string {
  const words = [...fields]
    .filter(([, field]) => !field.internal)
    .map(([argument, field]) => {
      const word = `${argument}=${formOf(field.schema)}`;
      return field.required ? word : `[${word}]`;
    });
  return [name, ...words].join(" ");
}

function formOf(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.join("|");
  if (schema.const !== undefined) return String(schema.const);
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants) return variants.map((one) => formOf(one)).join("|");
  const type: unknown = schema.type;
  if (Array.isArray(type)) return type.map((one) => `<${String(one)}>`).join("|");
  switch (type) {
    case "boolean":
      return "true|false";
    case "integer":
    case "number":
      return `<number${rangeOf(schema)}>`;
    case "array":
      return `<JSON list of ${formOf(itemsOf(schema))}>`;
    case "object":
      return "<JSON object>";
    case "string":
      return schema.format === "uri" ? "<url>" : "<text>";
    default:
      return "<JSON>";
  }
}

/** Of every `z.int()` zod tells the bounds of exact integers, which say nothing to a person. */
function rangeOf({ minimum = -Infinity, maximum = Infinity }: JsonSchema): string {
  const from = minimum > Number.MIN_SAFE_INTEGER ? String(minimum) : "";
  const to = maximum < Number.MAX_SAFE_INTEGER ? String(maximum) : "";
  return from === "" && to === "" ? "" : ` ${from}..${to}`;
}

function itemsOf({ items }: JsonSchema): JsonSchema {
  const first = Array.isArray(items) ? items[0] : items;
  return typeof first === "object" ? first : {};
}

function quoted(text: string): string {
  if (!/[\s'"“”‘’„]|^[[{]/.test(text)) return text;
  if (!text.includes("'")) return `'${text}'`;
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
