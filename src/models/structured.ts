import * as z from "zod";
import { addUsage, NO_USAGE, type Usage } from "../core/block.ts";
import { isJsonObject, tryJson } from "../core/json.ts";
import { issueText, mistakeText, pathText } from "../core/zod-issues.ts";
import {
  type GenerateOptions,
  type Model,
  ModelError,
  type ModelRequest,
  type ModelResponse,
  type Turn,
} from "./model.ts";

/** What a model is asked for a value of a form. */
export interface StructuredRequest<T> extends Pick<
  ModelRequest,
  "system" | "turns" | "maxOutputTokens"
> {
  /** An object's; what it describes (`.describe`) the model reads. */
  schema: z.ZodType<T>;
  /** What the value is, as a function's name: letters, digits and underscores, at most 64. */
  name: string;
}

export interface Structured<T> {
  value: T;
  /** Of both requests, where it took two. */
  usage: Usage;
  /** 2: the first value did not fit, and the model mended it. */
  requests: 1 | 2;
}

/** Two answers that both did not have the form. Their tokens were used nevertheless. */
export class StructuredError extends ModelError {
  readonly usage: Usage;

  constructor(message: string, usage: Usage) {
    super("MODEL_OUTPUT_INVALID", message);
    this.name = "StructuredError";
    this.usage = usage;
  }
}

/** More problems than these nobody mends at once. */
const MAX_PROBLEMS = 10;

/**
 * A value of this schema from a model, forced in its provider's own way and checked here. A value that does not fit is sent back
 * once with what is wrong with it.
 * @throws StructuredError when the second does not fit either, ModelError, and BotError ABORTED if the signal aborted
 */
export async function callStructured<T>(
  model: Pick<Model, "id" | "generate">,
  { system, turns, schema, name, maxOutputTokens }: StructuredRequest<T>,
  options: GenerateOptions,
): Promise<Structured<T>> {
  const output = { name, schema: jsonSchemaOf(schema) };
  const base = { system, tools: [], toolChoice: "auto" as const, maxOutputTokens, output };
  let usage = NO_USAGE;
  let asked = turns;
  let problems: string[] = [];
  for (const requests of [1, 2] as const) {
    const response = await model.generate({ ...base, turns: asked }, options);
    usage = addUsage(usage, response.usage);
    const read = readValue(response, schema);
    if ("value" in read) return { value: read.value, usage, requests };
    problems = read.problems;
    if (read.isFinal === true) break;
    const written: Turn = { role: "assistant", content: response.content, model: model.id };
    asked = [
      ...turns,
      written,
      { role: "user", content: [{ kind: "text", text: repair(problems) }] },
    ];
  }
  const what = `${model.id}: the answer does not have the form of "${name}"`;
  throw new StructuredError(
    `${what}: ${problems.join("; ")}. Ask again, or choose another model.`,
    usage,
  );
}

function repair(problems: readonly string[]): string {
  const list = problems.map((problem) => `- ${problem}`).join("\n");
  return `Your answer can't be used:\n${list}\nAnswer again with the whole object, with these problems mended and nothing else changed.`;
}

type Read<T> = { value: T } | { problems: string[]; isFinal?: true };

function readValue<T>({ content, stop }: ModelResponse, schema: z.ZodType<T>): Read<T> {
  const text = content.map((block) => (block.kind === "text" ? block.text : "")).join("");
  if (stop === "refusal" || stop === "content_filter")
    return { problems: ["the model refused to answer"], isFinal: true };
  const value = jsonObjectIn(text);
  if (value === undefined && stop === "max_tokens")
    return { problems: ["it was cut off by the token limit: be shorter"] };
  if (value === undefined) return { problems: ["it is not one JSON object"] };
  const checked = schema.safeParse(value, { reportInput: true });
  if (checked.success) return { value: checked.data };
  const problems = checked.error.issues.slice(0, MAX_PROBLEMS).map((issue) => {
    const isMissing = issue.code === "invalid_type" && issue.input === undefined;
    return mistakeText(pathText(issue.path) || "the object", issueText(issue, isMissing));
  });
  return { problems };
}

/** Servers that only the prompt tells of the form put a fence or a sentence around it. */
function jsonObjectIn(text: string): object | undefined {
  const inner = text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
  for (const written of [text, inner]) {
    const value = tryJson(written);
    if (isJsonObject(value)) return value;
  }
  return undefined;
}

function jsonSchemaOf(schema: z.ZodType): ModelRequest["tools"][number]["schema"] {
  const { $schema: _draft, ...described } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
  });
  const json: unknown = JSON.parse(JSON.stringify(described));
  if (!isJsonObject(json) || json["type"] !== "object")
    throw new TypeError("A structured answer is an object; give its schema as z.object.");
  return json;
}
