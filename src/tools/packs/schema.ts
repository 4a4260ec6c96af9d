import * as z from "zod";
import { tryDuration } from "../../core/past.ts";

/** The form of a pack. What it cannot say by itself is in `problems.ts`. */

const name = z
  .string()
  .regex(
    /^[a-z][a-z0-9_]{0,62}$/,
    "expected small letters, digits and underscores, such as shop_restart",
  );

const variable = z
  .string()
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]*$/,
    "expected the name of an environment variable such as SHOP_TOKEN",
  );

const text = z.string().trim().min(1).max(2_000);
const scalar = z.union([z.string(), z.number(), z.boolean()]);

const duration = z
  .string()
  .refine((written) => tryDuration(written) !== undefined, "expected a time such as 30s or 5m");

const ARGUMENT_TYPES = [
  "string",
  "integer",
  "number",
  "boolean",
  "enum",
  "host",
  "url",
  "duration",
] as const;

/** `[web, jobs]` is one of those, `integer` a type alone. */
function spelledOut(value: unknown): unknown {
  if (Array.isArray(value)) return { type: "enum", values: value };
  return typeof value === "string" ? { type: value } : value;
}

const argument = z.preprocess(
  spelledOut,
  z.strictObject({
    type: z.enum(ARGUMENT_TYPES).default("string"),
    description: text.optional(),
    values: z.array(z.string().min(1).max(200)).min(1).max(100).optional(),
    /** RE2, for the whole of the text. */
    pattern: z.string().min(1).max(500).optional(),
    min: z.number().optional(),
    max: z.number().optional(),
    default: scalar.optional(),
    optional: z.boolean().default(false),
    example: scalar.optional(),
    mayBeginWithDash: z.boolean().default(false),
  }),
);

const request = z.strictObject({
  /** The variable that holds the address below which it goes. */
  base: variable.optional(),
  get: z.string().optional(),
  head: z.string().optional(),
  post: z.string().optional(),
  put: z.string().optional(),
  patch: z.string().optional(),
  delete: z.string().optional(),
  query: z.record(z.string(), scalar).optional(),
  headers: z.record(z.string(), scalar).optional(),
  json: z.json().optional(),
  form: z.record(z.string(), scalar).optional(),
  credential: z
    .strictObject({
      bearer: variable.optional(),
      user: z.string().min(1).optional(),
      password: variable.optional(),
      header: z
        .string()
        .regex(/^[a-z0-9-]+$/i, "expected the name of a header")
        .optional(),
      variable: variable.optional(),
    })
    .optional(),
});

const command = z.preprocess(
  (value) => (Array.isArray(value) ? { argv: value } : value),
  z.strictObject({
    argv: z.array(z.string().max(10_000)).min(1).max(64),
    env: z.array(variable).max(20).default([]),
  }),
);

const work = { http: request.optional(), run: command.optional() };
const expression = z.string().trim().min(1).max(2_000);
const pick = z.union([expression, z.strictObject({ lines: z.string().min(1).max(500) })]);

const tool = z.strictObject({
  description: text,
  summary: text.optional(),
  effect: z.enum(["read", "write", "destructive"]),
  args: z.record(name, argument).default({}),
  say: z.array(text).max(10).default([]),
  timeout: duration.default("30s"),
  resource: text.optional(),
  ...work,
  pick: pick.optional(),
  precheck: z
    .strictObject({ ...work, condition: expression, otherwise: text.optional() })
    .optional(),
  capture: z.strictObject({ ...work, values: z.record(name, expression) }).optional(),
  preview: z
    .strictObject({
      ...work,
      pick: pick.optional(),
      text: text.optional(),
      blastRadius: text.optional(),
    })
    .optional(),
  verify: z.strictObject({ ...work, condition: expression, after: duration.optional() }).optional(),
  undo: z
    .strictObject({
      tool: name,
      args: z.record(name, z.json()).default({}),
      expects: z.record(name, z.json()).default({}),
    })
    .optional(),
});

export const packSchema = z.strictObject({ tools: z.record(name, tool) });

export type PackTool = z.infer<typeof tool>;
export type Request = z.infer<typeof request>;
export type Work = Pick<PackTool, "http" | "run">;
export type Picked = NonNullable<PackTool["pick"]>;
export type Argument = PackTool["args"][string];
