import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { RE2JS } from "re2js";
import * as z from "zod";
import type { Json, JsonObject } from "../../core/entry.ts";
import { BotError } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json.ts";

/**
 * A server's schema for the arguments of a tool, made safe to check by: a tree without references, of bounded size, whose patterns
 * take linear time.
 */

/** A tool is told to a model in every request; what needs more is no tool for one. */
const MAX_BYTES = 32 * 1024;
/** With references written out. As many steps a check of one value takes at most. */
const MAX_NODES = 3_000;
const MAX_LEVELS = 24;
/** Each value is checked by each part of the schema at worst: about half a second. */
const MAX_STEPS = 1_000_000;

/**
 * What names a schema or says how it is used here: in a tree of its own it only disturbs, and `$async` would have ajv answer with a
 * promise. `internal` is our own word. `uniqueItems` takes time by the square of the items.
 */
const LEFT_OUT = new Set(["definitions", "internal", "env", "yaml", "uniqueItems"]);

function isLeftOut(key: string): boolean {
  return key.startsWith("$") || LEFT_OUT.has(key);
}

/** In these, keys are names of arguments and values are schemas. */
const BY_NAME = new Set(["properties", "patternProperties", "dependentSchemas"]);
/** In these, nothing is a schema. */
const VALUES = new Set(["enum", "const", "default", "examples", "required", "type"]);

/**
 * The schema with references to itself written out. Where one comes back to itself, or leads outside, anything is taken.
 * @throws BotError INPUT_INVALID when it is too large, or is none of an object
 */
function plainSchema(written: JsonObject): JsonObject {
  if (JSON.stringify(written).length > MAX_BYTES) throw unfit(`has more than ${MAX_BYTES} bytes`);
  let nodes = 0;

  function plain(value: Json, open: readonly string[], level: number): Json {
    nodes += 1;
    if (nodes > MAX_NODES)
      throw unfit(`has more than ${MAX_NODES} parts with references written out`);
    if (level > MAX_LEVELS) throw unfit(`nests deeper than ${MAX_LEVELS}`);
    if (Array.isArray(value)) return value.map((each) => plain(each, open, level + 1));
    if (!isJsonObject(value)) return value;
    const { $ref, ...rest } = value;
    if (typeof $ref === "string") {
      const target = open.includes($ref) ? undefined : targetOf(written, $ref);
      if (target === undefined) return plain(rest, open, level + 1);
      const meant = plain(target, [...open, $ref], level + 1);
      const beside = plain(rest, open, level + 1);
      return isJsonObject(meant) && isJsonObject(beside) ? { ...meant, ...beside } : meant;
    }
    const kept = Object.entries(rest).filter(([key]) => !isLeftOut(key));
    return Object.fromEntries(
      kept.map(([key, inner]) => {
        if (VALUES.has(key)) return [key, inner];
        if (!BY_NAME.has(key) || !isJsonObject(inner)) return [key, plain(inner, open, level + 1)];
        const named = Object.entries(inner).map(([name, each]) => [
          name,
          plain(each, open, level + 2),
        ]);
        return [key, Object.fromEntries(named)];
      }),
    );
  }

  const schema = plain(written, ["#"], 0);
  const fields = isJsonObject(schema) ? schema : {};
  if (fields["type"] !== "object") throw unfit("is not an object's");
  return { additionalProperties: false, properties: {}, ...fields };
}

function targetOf(root: JsonObject, ref: string): Json | undefined {
  if (!ref.startsWith("#/")) return undefined;
  let at: Json | undefined = root;
  for (const step of ref.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

function unfit(what: string): BotError {
  return new BotError("INPUT_INVALID", `its schema ${what}`);
}

/** What no RE2 can be is not checked here: the server checks its arguments itself. */
function linearPattern(source: string): { test(text: string): boolean; toString(): string } {
  // Patterns that read alike are one to ajv.
  const toString = () => source;
  try {
    const pattern = RE2JS.compile(source);
    return { test: (text) => pattern.matcher(text).find(), toString };
  } catch {
    return { test: () => true, toString };
  }
}

/**
 * As the tools of this program have their inputs: arguments are checked by the schema, and described by it.
 * @throws BotError INPUT_INVALID as `plainSchema`, and for a schema that is none
 */
export function inputOf(written: JsonObject): z.ZodType<JsonObject> {
  const schema = plainSchema(written);
  const check = checkOf(schema);
  return z
    .record(z.string(), z.json())
    .superRefine((value, ctx) => {
      for (const { path, message, type } of check(value)) {
        if (type === undefined) ctx.addIssue({ code: "custom", path, message });
        else
          ctx.addIssue({ code: "invalid_type", expected: "custom", path, message, input: value });
      }
    })
    .meta(schema);
}

function countParts(value: Json): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, each) => sum + countParts(each), 1);
}

interface Mistake {
  path: string[];
  message: string;
  /** What it should have been, where it is of another type. */
  type?: string;
}

function checkOf(schema: JsonObject): (value: JsonObject) => Mistake[] {
  const regExp = Object.assign(linearPattern, { code: "linearPattern" });
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    ownProperties: true,
    validateFormats: false,
    addUsedSchema: false,
    logger: false,
    code: { regExp },
  });
  try {
    const validate = ajv.compile(schema);
    const parts = countParts(schema);
    return (value) => {
      if (parts * countParts(value) > MAX_STEPS)
        return [{ path: [], message: "have too many parts to be checked; give fewer" }];
      return validate(value) ? [] : mistakesIn(validate.errors ?? []);
    };
  } catch (error) {
    throw new BotError("INPUT_INVALID", "its schema is not one of JSON Schema", { cause: error });
  }
}

/** A union tells what is wrong with each of its forms; that none fits says it. */
const MAX_MISTAKES = 5;

function mistakesIn(errors: readonly ErrorObject[]): Mistake[] {
  // Arguments that the schema does not list are told of before.
  const told = errors.filter(
    ({ keyword, instancePath }) => keyword !== "additionalProperties" || instancePath !== "",
  );
  return told.slice(0, MAX_MISTAKES).map(({ instancePath, keyword, params, message = "" }) => {
    const path = instancePath.split("/").slice(1);
    if (keyword === "required")
      return { path: [...path, String(params["missingProperty"])], message: "missing" };
    if (keyword === "enum") {
      const allowed: unknown = params["allowedValues"];
      return { path, message: `expected one of ${JSON.stringify(allowed).slice(0, 300)}` };
    }
    if (keyword === "additionalProperties")
      return { path, message: `takes no ${JSON.stringify(params["additionalProperty"])}` };
    const type = keyword === "type" ? { type: String(params["type"]) } : {};
    return { path, message: message.replace(/^must be/, "expected"), ...type };
  });
}
