import { isJsonObject } from "../core/json.ts";
import type { Document, LineCounter } from "yaml";
import * as z from "zod";
import { oneLine } from "../core/text.ts";
import { cleanText } from "../security/sanitize.ts";
import { messageOf } from "../core/errors.ts";
import { isRecord } from "../core/json.ts";

/** What is wrong, and in which line, counted from 1. */
interface TextProblem {
  line: number;
  text: string;
}

interface SkillFields {
  name: string;
  description: string;
  body: string;
  /** `allowed-tools`, and its line. */
  allowed?: { text: string; line: number };
  /** Tools that `metadata.requires` names. */
  requires?: string[];
}

/** What was read of a `SKILL.md`; without a skill if a problem makes it unusable. */
export interface SkillText {
  skill: SkillFields | undefined;
  problems: TextProblem[];
}

/** The limits of the format (Agent Skills specification), in characters. */
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;
const MAX_COMPATIBILITY = 500;
/** The format's recommendation for a body. */
const MAX_LINES = 500;
/** Models see only the beginning and end of a longer result (`MAX_RESULT_BYTES` of the dispatcher, less room for the list of files). */
const MAX_BODY_BYTES = 14_000;

/** The other fields of the format. `allowed-tools` and `requires` in `metadata` have an effect here. */
const OPTIONAL_FIELDS: Readonly<Record<string, { schema: z.ZodType; expected: string }>> = {
  license: { schema: z.string(), expected: "a text" },
  compatibility: {
    schema: z.string().refine((text) => text !== "" && lengthOf(text) <= MAX_COMPATIBILITY),
    expected: `a text of 1 to ${MAX_COMPATIBILITY} characters`,
  },
  metadata: {
    schema: z.record(z.string(), z.string()),
    expected: "a map of texts; put numbers and dates in quotes",
  },
  "allowed-tools": { schema: z.string(), expected: "one text, names separated by spaces" },
};

/**
 * Reads a `SKILL.md` by the rules of the Agent Skills format, as leniently as other clients: it loads what is usable and
 * names the problems. Without frontmatter, a description or a usable name there is no skill. `directory` is the name of
 * the folder, which should be the skill's name.
 */
export async function readSkillText(text: string, directory: string): Promise<SkillText> {
  const problems: TextProblem[] = [];
  const halves = split(text);
  if (typeof halves === "string")
    return { skill: undefined, problems: [{ line: 1, text: halves }] };
  const front = await readFront(halves.front, problems);
  if (front === undefined) return { skill: undefined, problems };
  const note = (field: string, problem: string) =>
    void problems.push({ line: front.lineOf(field), text: problem });
  const description = descriptionOf(front.fields, note);
  const name = nameOf(front.fields, directory, note);
  checkOthers(front.fields, note);
  const body = halves.body.trim();
  const problem = bodyProblem(body);
  if (problem !== undefined) problems.push({ line: halves.bodyLine, text: problem });
  if (name === undefined || description === undefined) return { skill: undefined, problems };
  const allowed = allowedIn(front);
  const requires = requiredIn(front.fields);
  return {
    skill: {
      name,
      description,
      body,
      ...(allowed && { allowed }),
      ...(requires.length > 0 && { requires }),
    },
    problems,
  };
}

interface Halves {
  front: string;
  body: string;
  bodyLine: number;
}

/** Returns a text instead if something is wrong. */
function split(text: string): Halves | string {
  const lines = text.split(/\r?\n/);
  const isFence = (line: string) => /^---[ \t]*$/.test(line);
  if (!isFence(lines[0] ?? "")) return "expected --- as the first line, then name and description";
  const end = lines.findIndex((line, i) => i > 0 && isFence(line));
  if (end < 0) return "the frontmatter has no end; expected a line with --- after it";
  const body = lines.slice(end + 1).join("\n");
  return { front: lines.slice(1, end).join("\n"), body, bodyLine: end + 2 };
}

type Fields = Readonly<Record<string, unknown>>;

interface Front {
  fields: Fields;
  lineOf(field: string): number;
}

function requiredIn({ metadata }: Fields): string[] {
  const given = isJsonObject(metadata) ? metadata["requires"] : undefined;
  return typeof given === "string" ? given.split(/[\s,]+/).filter((name) => name !== "") : [];
}

/** An empty list is none. */
function allowedIn({ fields, lineOf: at }: Front): SkillFields["allowed"] {
  const field = "allowed-tools";
  const given = fields[field];
  // Others write a list, which means the same.
  const text = Array.isArray(given) ? given.map(String).join(" ") : given;
  return typeof text === "string" && text.trim() !== "" ? { text, line: at(field) } : undefined;
}

/** Notes what is wrong with a field. */
type Note = (field: string, problem: string) => void;

async function readFront(front: string, problems: TextProblem[]): Promise<Front | undefined> {
  const yaml = await import("yaml");
  const counter = new yaml.LineCounter();
  const options = { lineCounter: counter, prettyErrors: false, logLevel: "error" } as const;
  try {
    const document = yaml.parseDocument(front, options);
    const [error] = document.errors;
    if (error !== undefined) {
      const text = `it cannot be read as yaml: ${error.message}`;
      problems.push({ line: fileLine(counter, error.pos[0]), text });
      return undefined;
    }
    const fields: unknown = document.toJS({ maxAliasCount: 100 });
    if (isRecord(fields))
      return { fields, lineOf: (field) => lineOf(yaml, document, counter, field) };
    problems.push({ line: 1, text: "expected name: and description: between the --- lines" });
  } catch (error) {
    // For example aliases that multiply or lead nowhere, or nesting deeper than the stack.
    problems.push({ line: 1, text: `it cannot be read as yaml: ${messageOf(error)}` });
  }
  return undefined;
}

/** The frontmatter begins on the file's second line. */
function fileLine(counter: LineCounter, offset: number): number {
  return counter.linePos(offset).line + 1;
}

function lineOf(
  { isMap, isScalar }: typeof import("yaml"),
  { contents }: Document.Parsed,
  counter: LineCounter,
  field: string,
): number {
  const keys = isMap(contents) ? contents.items.map(({ key }) => key) : [];
  const key = keys.filter((one) => isScalar(one)).find(({ value }) => value === field);
  return key === undefined ? 1 : fileLine(counter, key.range?.[0] ?? 0);
}

function descriptionOf({ description }: Fields, note: Note): string | undefined {
  const field = "description";
  const text = typeof description === "string" ? oneLine(cleanText(description)) : "";
  if (text === "") {
    note(field, "description: expected a text that says what the skill is for and when to use it");
    return undefined;
  }
  if (lengthOf(text) > MAX_DESCRIPTION)
    note(field, `description: longer than ${MAX_DESCRIPTION} characters`);
  return text;
}

function nameOf(fields: Fields, directory: string, note: Note): string | undefined {
  const given = typeof fields["name"] === "string" ? fields["name"].trim().normalize("NFKC") : "";
  const folder = directory.normalize("NFKC");
  const wrong =
    nameProblem(given) ?? (given === folder ? undefined : "expected the name of its folder");
  const name = [given, folder].find((one) => isCallable(one));
  if (wrong !== undefined) {
    note("name", `name: ${wrong}${name === undefined ? "" : `; loaded as ${name}`}`);
  }
  return name;
}

/** Why the format does not allow a name, or undefined. */
export function nameProblem(name: string): string | undefined {
  if (name === "") return "missing; expected the name of its folder";
  if (lengthOf(name) > MAX_NAME) return `longer than ${MAX_NAME} characters`;
  if (/^[a-z\d]+(?:-[a-z\d]+)*$/.test(name)) return undefined;
  const isPlain =
    /^[\p{L}\p{N}-]+$/u.test(name) && name === name.toLowerCase() && cleanText(name) === name;
  if (!isPlain) return "expected only lower-case letters, digits and hyphens";
  return /^-|-$|--/.test(name) ? "expected hyphens only between two other characters" : undefined;
}

/** Looser than the format: one visible word that a model can use. */
function isCallable(name: string): boolean {
  return /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,127}$/u.test(name) && cleanText(name) === name;
}

function checkOthers(fields: Fields, note: Note): void {
  const unknown: string[] = [];
  for (const [field, value] of Object.entries(fields)) {
    if (field === "name" || field === "description") continue;
    const rule = Object.hasOwn(OPTIONAL_FIELDS, field) ? OPTIONAL_FIELDS[field] : undefined;
    if (rule === undefined) unknown.push(field);
    else if (!rule.schema.safeParse(value).success)
      note(field, `${field}: expected ${rule.expected}`);
  }
  const [first] = unknown;
  if (first === undefined) return;
  const names = unknown.join(", ");
  note(first, `the format has no field ${names}; put your own fields under metadata`);
}

function bodyProblem(body: string): string | undefined {
  if (body === "") return "it has no instructions below the frontmatter";
  const lines = body.split("\n").length;
  if (lines <= MAX_LINES && Buffer.byteLength(body) <= MAX_BODY_BYTES) return undefined;
  return `more than ${MAX_LINES} lines or ${MAX_BODY_BYTES} bytes, so models see only the beginning and the end; move details into files beside it`;
}

/** In characters, not in UTF-16 units. */
function lengthOf(text: string): number {
  return Array.from(text).length;
}
