import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import * as z from "zod";
import type { JsonObject } from "../core/entry.ts";
import { isJson } from "../core/json.ts";
import type { ToolSpec } from "../core/tool-spec.ts";
import type { Tool } from "./tool.ts";

/**
 * A tool's zod schema, described to people and models.
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

/** A tool's input as checks need it. */
interface InputForm {
  /** Those of a union's variants together. */
  fields: Map<string, Field>;
  /** It takes names that it does not list. */
  open: boolean;
  /** SHA-256, hexadecimal, over the canonical form (RFC 8785) of the JSON schema, internal fields included. */
  schemaHash: string;
}

/** Making a form takes many times as long as checking by it. */
const forms = new WeakMap<Tool["input"], InputForm>();

export function inputForm({ input }: Tool): InputForm {
  const form = forms.get(input) ?? readSchema(input);
  forms.set(input, form);
  return form;
}

function readSchema(input: Tool["input"]): InputForm {
  const schema: JsonSchema = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
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

/** The arguments a person may set, in the schema's order. */
export function settableFields(tool: Tool): [name: string, Field][] {
  return [...inputForm(tool).fields].filter(([, { internal }]) => !internal);
}

export function argumentNames(tool: Tool): string[] {
  return settableFields(tool).map(([name]) => name);
}

/**
 * The tool as a model is told it: an object's JSON schema, variants merged, since model providers take no union at the top,
 * without the fields that only the bot fills.
 */
export function toolSpec(tool: Tool): ToolSpec {
  const fields = settableFields(tool);
  const properties = Object.fromEntries(fields.map(([name, { schema }]) => [name, schema]));
  const required = fields.flatMap(([name, field]) => (field.required ? [name] : []));
  const schema = z
    .record(z.string(), z.json())
    .parse({ type: "object", properties, required, additionalProperties: false });
  return { name: tool.name, description: tool.description, schema };
}

/**
 * The required arguments with the values that the schema itself has as examples. Undefined when one has none: a made-up
 * number or name might be someone's process or host.
 */
export function exampleOf(tool: Tool): JsonObject | undefined {
  const example: JsonObject = {};
  for (const [name, { schema, required }] of settableFields(tool)) {
    if (!required) continue;
    const own: unknown[] = [...(schema.examples ?? []), schema.const, ...(schema.enum ?? [])];
    const value = own.find((one) => isJson(one));
    if (value === undefined) return undefined;
    example[name] = value;
  }
  return example;
}

/** One line for people: `http_check url=<url> [method=GET|HEAD]`; what is in brackets may be left out. */
export function describeInput(tool: Tool): string {
  const words = settableFields(tool).map(([argument, { schema, required }]) => {
    const word = `${argument}=${formOf(schema)}`;
    return required ? word : `[${word}]`;
  });
  return [tool.name, ...words].join(" ");
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
