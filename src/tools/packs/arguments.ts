import { RE2JS } from "re2js";
import * as z from "zod";
import { type ArgumentKind, canonicalHost } from "../../core/canonical.ts";
import type { Json } from "../../core/entry.ts";
import { tryDuration } from "../../core/past.ts";
import type { Argument } from "./schema.ts";

/** A pack's arguments as the house's tools have theirs. */

const MAX_TEXT = 2_000;

/** No control characters, so no value ends a line; nothing that no URL could carry. */
const line = z
  .string()
  .min(1)
  .max(MAX_TEXT)
  .refine((text) => !/\p{Cc}/u.test(text) && text.isWellFormed(), "expected one line of text");

export function fieldFor(argument: Argument): z.ZodType<Json | undefined> {
  const { description, example, values, optional } = argument;
  const own = example ?? values?.[0];
  const field = typeOf(argument).meta({
    ...(description !== undefined && { description }),
    ...(own !== undefined && { examples: [own] }),
  });
  if (argument.default !== undefined) return field.default(argument.default);
  return optional ? field.optional() : field;
}

function typeOf({ type, values = [], pattern, min, max }: Argument): z.ZodType<Json> {
  switch (type) {
    case "string": {
      if (pattern === undefined) return line;
      const matcher = RE2JS.compile(pattern);
      return line.refine((text) => matcher.matches(text), `expected a text like ${pattern}`);
    }
    case "integer":
      return within(z.int(), min, max);
    case "number":
      return within(z.number(), min, max);
    case "boolean":
      return z.boolean();
    case "enum":
      return z.enum(values);
    case "host":
      return line.refine(
        (text) => canonicalHost(text) !== undefined,
        "expected a host name or address",
      );
    case "url":
      return line.refine(
        (text) => /^https?:\/\//i.test(text) && URL.canParse(text),
        "expected an http or https URL",
      );
    case "duration":
      return line.refine(
        (text) => tryDuration(text) !== undefined,
        "expected a time such as 30s or 5m",
      );
  }
}

function within(number: z.ZodNumber, min: number | undefined, max: number | undefined) {
  const above = min === undefined ? number : number.min(min);
  return max === undefined ? above : above.max(max);
}

/** By what rules compare the values. */
export function kindsOf(args: Readonly<Record<string, Argument>>): Record<string, ArgumentKind> {
  return Object.fromEntries(
    Object.entries(args).flatMap(([name, { type }]) =>
      type === "host" || type === "url" ? [[name, type] as const] : [],
    ),
  );
}

/** The names that every call has a value for. */
export function alwaysGiven(args: Readonly<Record<string, Argument>>): ReadonlySet<string> {
  const given = Object.entries(args).filter(
    ([, each]) => !each.optional || each.default !== undefined,
  );
  return new Set(given.map(([name]) => name));
}
