import { unknownName } from "../core/suggest.ts";
import { issueText, mistakeText, pathText } from "../core/zod-issues.ts";
import type { JsonObject } from "../core/entry.ts";
import { isJson, isJsonObject, MAX_DEPTH, tryJson } from "../core/json.ts";
import { argumentNames, describeInput, exampleOf, inputForm } from "./input-schema.ts";
import type { Tool } from "./tool.ts";

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
): CheckedArguments {
  const { fields, open } = inputForm(tool);
  const mistakes: ArgumentMistake[] = [];
  if (!isJson(args)) {
    const text = `they nest deeper than ${MAX_DEPTH}`;
    mistakes.push({ argument: undefined, where: "arguments", text });
    return { ok: false, problem: explain(tool, mistakes), mistakes };
  }
  for (const name of Object.keys(args)) {
    const field = fields.get(name);
    const mistake = { argument: name, where: name };
    if (!field && !open)
      mistakes.push({ ...mistake, text: unknownName(name, argumentNames(tool)) });
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
  return { ok: false, problem: explain(tool, mistakes), mistakes };
}

/**
 * The typed command that reads back as these arguments. Only a number, a boolean or a list in a place that takes texts
 * as well comes back as text.
 */
export function commandLine(tool: string, args: Readonly<JsonObject>): string {
  const words = Object.entries(args).map(
    ([name, value]) =>
      `${name}=${asWord(typeof value === "string" ? value : JSON.stringify(value))}`,
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

function explain(tool: Tool, mistakes: readonly ArgumentMistake[]): string {
  const example = exampleOf(tool);
  return [
    `Can't run ${tool.name} with these arguments:`,
    ...mistakes.map(({ where, text }) => `- ${mistakeText(where, text)}`),
    `Usage: run ${describeInput(tool)}`,
    ...(example ? [`Example: ${commandLine(tool.name, example)}`] : []),
  ].join("\n");
}

function asWord(text: string): string {
  if (!/[\s'"“”‘’„]|^[[{]/.test(text)) return text;
  if (!text.includes("'")) return `'${text}'`;
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
