import type { Json } from "./entry.ts";
import { BotError } from "./errors.ts";
import { unknownName } from "./suggest.ts";

/** `{{name}}` in the texts of a pack. What takes its place is encoded for where it stands, by whoever builds that. */

/** What stands for each name; undefined: it was not given. */
export type Values = Readonly<Record<string, Json | undefined>>;

const HOLE = /\{\{\s*([a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)?)\s*\}\}/g;

export function holesIn(text: string): string[] {
  return [...text.matchAll(HOLE)].map(([, name = ""]) => name);
}

/** The name of the only hole that the text is; undefined: there is more to it. */
function loneHole(text: string): string | undefined {
  const [first] = holesIn(text);
  return text.replace(HOLE, "") === "" && holesIn(text).length === 1 ? first : undefined;
}

/** What is wrong with it, given the names that there are; undefined: nothing. */
export function templateProblem(text: string, known: readonly string[]): string | undefined {
  const rest = text.replaceAll(HOLE, "");
  if (/\{\{|\}\}/.test(rest))
    return "expected {{name}}, with a name of small letters, digits and underscores";
  const single = /\{([a-z][a-z0-9_]*)\}/.exec(rest)?.[1];
  if (single !== undefined && known.includes(single)) return `write {{${single}}}, with two braces`;
  const strange = holesIn(text).find((name) => !known.includes(name));
  return strange === undefined ? undefined : `{{${strange}}} is ${unknownName(strange, known)}`;
}

/** The text with each value as `write` has it; undefined where one was not given. */
export function fillWith(
  text: string,
  values: Values,
  write: (value: Json) => string,
): string | undefined {
  if (holesIn(text).some((name) => values[name] === undefined)) return undefined;
  return text.replaceAll(HOLE, (_, name: string) => write(values[name] ?? null));
}

export function plain(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** For people: what was not given is said so. */
export function fillForPeople(text: string, values: Values): string {
  return text.replaceAll(HOLE, (_, name: string) => {
    const value = values[name];
    return value === undefined ? "(not given)" : plain(value);
  });
}

/** A JMESPath expression, in which each value is a literal: no value can be more than that. */
export function fillExpression(text: string, values: Values): string {
  const literal = (value: Json) =>
    `\`${JSON.stringify(value).replaceAll("`", String.raw`\u0060`)}\``;
  return text.replaceAll(HOLE, (_, name: string) => literal(values[name] ?? null));
}

/** JSON in which a text that is a hole alone becomes the value itself; what was not given is left out with its key. */
export function fillJson(template: Json, values: Values): Json | undefined {
  if (typeof template === "string") {
    const lone = loneHole(template);
    return lone === undefined ? fillWith(template, values, plain) : values[lone];
  }
  if (Array.isArray(template))
    return template.flatMap((each) => {
      const filled = fillJson(each, values);
      return filled === undefined ? [] : [filled];
    });
  if (typeof template !== "object" || template === null) return template;
  return Object.fromEntries(
    Object.entries(template).flatMap(([key, each]) => {
      const filled = fillJson(each, values);
      return filled === undefined ? [] : [[key, filled]];
    }),
  );
}

/**
 * The command line: each item stays one argument, and one whose value was not given is left out. `dashed`: names whose values
 * may begin an argument with `-`.
 * @throws BotError INPUT_INVALID
 */
export function fillArgv(
  argv: readonly string[],
  values: Values,
  dashed: ReadonlySet<string>,
): string[] {
  return argv.flatMap((item) => {
    const filled = fillWith(item, values, plain);
    if (filled === undefined) return [];
    const [first = ""] = holesIn(item);
    if (filled.includes("\0")) throw new BotError("INPUT_INVALID", `${first} holds a NUL byte.`);
    if (filled.startsWith("-") && !item.startsWith("-") && !dashed.has(first)) {
      const text = `${first} begins with "-", which the program could take for an option.`;
      throw new BotError("INPUT_INVALID", text);
    }
    return [filled];
  });
}
