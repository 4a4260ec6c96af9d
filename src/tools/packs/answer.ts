import { compile, TreeInterpreter } from "@jmespath-community/jmespath";
import { RE2JS } from "re2js";
import { alignedRows } from "../columns.ts";
import type { Json } from "../../core/entry.ts";
import { BotError, messageOf } from "../../core/errors.ts";
import { isJson, isJsonObject } from "../../core/json.ts";
import { counted, folded, oneLine, shortened } from "../../core/text.ts";
import type { Encoder } from "../../security/encoder.ts";
import { tryParse } from "../decode.ts";
import type { Picked } from "./schema.ts";
import { fillExpression, holesIn, templateProblem, type Values } from "../../core/templates.ts";

/** What a request or a program answered, and what a pack takes of it. */
export interface PackAnswer {
  /** Why it is no answer to what was asked, such as `HTTP 503`. */
  failure: string | undefined;
  /** Its JSON, without secrets; of other text an object with `text` and `lines`. */
  data: Json;
  text: string;
}

const MAX_ROWS = 100;
const MAX_COLUMNS = 8;
const MAX_CELL = 60;
const MAX_VALUE = 300;

/** Secrets go out before anything is picked or compared: no condition may be asked about one. */
export async function answerOf(
  raw: string,
  failure: string | undefined,
  encoder: Encoder,
): Promise<PackAnswer> {
  const text = await encoder.aside.encode(raw);
  const parsed = tryParse(text);
  const lines = text.split("\n").map((line) => line.trimEnd());
  return { failure, text, data: isJson(parsed) && text.trim() !== "" ? parsed : { text, lines } };
}

/** What is wrong with an expression that may have holes; undefined: nothing. */
export function expressionProblem(text: string, known: readonly string[]): string | undefined {
  const problem = templateProblem(text.replaceAll("{{", " {{"), known);
  if (problem !== undefined && holesIn(text).length > 0) return problem;
  try {
    compile(fillExpression(text, {}));
    return undefined;
  } catch (error) {
    const number = /invalid token \(Number\): "([\d.-]+)"/.exec(messageOf(error))?.[1];
    if (number !== undefined) return `a number stands in backticks: \`${number}\``;
    return `is no JMESPath expression: ${oneLine(messageOf(error))}`;
  }
}

export function patternProblem(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return `is no RE2 expression: ${oneLine(messageOf(error))}`;
  }
}

/** @throws BotError INPUT_INVALID where the answer has another shape than the expression needs */
export function evaluate(expression: string, data: Json, values: Values): Json {
  try {
    const tree = compile(fillExpression(expression, values));
    const found: unknown = TreeInterpreter.search(tree, data);
    return isJson(found) ? found : null;
  } catch (error) {
    const text = `${expression}: ${oneLine(messageOf(error))}`;
    throw new BotError("INPUT_INVALID", text, { cause: error });
  }
}

/** As JMESPath has it: nothing, empty and false are false; 0 is true. */
export function isTrue(value: Json): boolean {
  if (value === null || value === false || value === "") return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

/** What people and models read of it. */
export function shownAnswer(
  { data, text }: PackAnswer,
  pick: Picked | undefined,
  values: Values,
): string {
  if (pick === undefined)
    return isJsonObject(data) && "lines" in data && data["text"] === text
      ? text.trimEnd()
      : rowsOf(data);
  if (typeof pick === "string") return rowsOf(evaluate(pick, data, values));
  const pattern = RE2JS.compile(pick.lines);
  const lines = text.split("\n").filter((line) => pattern.test(line));
  return rowsOf(lines);
}

/** A table of objects, a line each of texts, `name: value` of an object. */
function rowsOf(value: Json): string {
  if (value === null) return "Nothing was found.";
  if (typeof value !== "object") return String(value);
  if (!Array.isArray(value)) {
    const lines = Object.entries(value).map(([key, each]) => `${key}: ${cell(each, MAX_VALUE)}`);
    return lines.join("\n") || "Nothing was found.";
  }
  if (value.length === 0) return "Nothing was found.";
  const rows = value.slice(0, MAX_ROWS);
  const more = value.length > rows.length ? [`… and ${value.length - rows.length} more`] : [];
  const lines = rows.every(isJsonObject)
    ? table(rows)
    : folded(rows.map((row) => cell(row, MAX_VALUE)));
  return [...lines, ...more].join("\n");
}

function table(rows: readonly Readonly<Record<string, Json>>[]): string[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = names.slice(0, MAX_COLUMNS);
  const cells = rows.map((row) => columns.map((name) => cell(row[name] ?? "", MAX_CELL)));
  const lines = alignedRows([columns, ...cells]);
  const left = names.length - columns.length;
  return left > 0
    ? [...lines, `… and ${counted(left, "more column")}: ${names.slice(MAX_COLUMNS).join(", ")}`]
    : lines;
}

function cell(value: Json, max: number): string {
  const text = oneLine(typeof value === "string" ? value : JSON.stringify(value));
  return shortened(text, max);
}
