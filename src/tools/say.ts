import type { JsonObject } from "../core/entry.ts";
import { unknownName } from "../core/suggest.ts";
import { readArguments } from "./arguments.ts";
import { inputForm } from "./input-schema.ts";
import type { Tool } from "./tool.ts";

/**
 * Sentences that call a tool, such as `restart {{service}}`: what people type is matched word by word, and each `{{…}}` is one
 * word or a text in quotes. Exact, so that prose stays prose.
 */

type Part = { word: string } | { argument: string };

/** Begin commands of the program's own, or words that people say to it. */
const TAKEN = new Set(
  "run stop extend help status whoami tools cost approvals approve deny settle edit cancel undo ask confirm grant grants revoke break-glass freeze unfreeze freezes mirror unmirror feedback remember notes forget recall answer mcp incidents incident handoff goal model quiet listen yes no ok".split(
    " ",
  ),
);

function partsOf(phrase: string): Part[] {
  return phrase
    .trim()
    .replaceAll(/\{\{\s*([a-z][a-z0-9_]*)\s*\}\}/g, "{{$1}}")
    .split(/\s+/)
    .map((word) => {
      const argument = /^\{\{([a-z][a-z0-9_]*)\}\}$/.exec(word)?.[1];
      return argument === undefined ? { word: word.toLowerCase() } : { argument };
    });
}

/** What is wrong with a phrase of a tool with these arguments; `needed`: those that a call must have. */
export function phraseProblem(
  phrase: string,
  known: readonly string[],
  always: ReadonlySet<string>,
  args: Readonly<Record<string, { default?: unknown }>>,
): string | undefined {
  const parts = partsOf(phrase);
  const [first] = parts;
  if (first === undefined || !("word" in first) || !/^[\p{L}\d][\p{L}\d_-]*$/u.test(first.word))
    return "begins with a word of its own, such as restart {{service}}";
  if (TAKEN.has(first.word))
    return `${first.word} begins a command of the program's own; begin with another word`;
  const broken = parts.find((part) => "word" in part && /[{}"'“”]/.test(part.word));
  if (broken !== undefined && "word" in broken)
    return `${broken.word}: expected {{name}} as a word of its own, without quotes`;
  const named = parts.flatMap((part) => ("argument" in part ? [part.argument] : []));
  const strange = named.find((name) => !known.includes(name));
  if (strange !== undefined) return `{{${strange}}} is ${unknownName(strange, known)}`;
  if (new Set(named).size < named.length) return "names an argument twice";
  const missing = [...always].find(
    (name) => !named.includes(name) && args[name]?.default === undefined,
  );
  return missing === undefined ? undefined : `does not say {{${missing}}}, which has no default`;
}

/** The call that a typed text says, by the exact words of some tool's phrase and with values that the tool takes. */
export function readSaid(
  text: string,
  tools: readonly Tool[],
): { tool: string; args: Record<string, string> } | undefined {
  const words = wordsIn(text);
  if (words === undefined) return undefined;
  for (const tool of tools) {
    for (const phrase of tool.say ?? []) {
      const args = match(partsOf(phrase), words);
      if (args !== undefined && readArguments(tool, args).ok) return { tool: tool.name, args };
    }
  }
  return undefined;
}

/** A call in the words of its tool's first phrase; undefined: it has none. */
export function saidCall({ say = [] }: Tool, args: JsonObject): string | undefined {
  const [phrase] = say;
  if (phrase === undefined) return undefined;
  const words = partsOf(phrase).map((part) => {
    if ("word" in part) return part.word;
    const value = args[part.argument];
    // Several words of one value could read as words of the phrase.
    return typeof value === "string" && /^[^\s"'“”]+$/.test(value) ? value : JSON.stringify(value);
  });
  const [first = "", ...rest] = words.join(" ");
  return first.toUpperCase() + rest.join("");
}

const MAX_SAID = 1_000;

/** Without a slash before it and a mark behind it; undefined: no phrase can be that. */
function wordsIn(text: string): string[] | undefined {
  if (text.length > MAX_SAID) return undefined;
  const bare = text
    .trim()
    .replace(/^\//, "")
    .replace(/\s*[?!]+$/, "");
  const piece = /\s+|"([^"]*)"(?=\s|$)|'([^']*)'(?=\s|$)|([^\s"']+)/y;
  const words: string[] = [];
  while (piece.lastIndex < bare.length) {
    const found = piece.exec(bare);
    if (found === null) return undefined;
    const word = found[1] ?? found[2] ?? found[3];
    if (word !== undefined) words.push(word);
  }
  return words.length === 0 ? undefined : words;
}

function match(
  parts: readonly Part[],
  words: readonly string[],
): Record<string, string> | undefined {
  if (parts.length !== words.length) return undefined;
  const args: Record<string, string> = {};
  for (const [at, part] of parts.entries()) {
    const word = words[at] ?? "";
    if ("argument" in part) args[part.argument] = word;
    else if (word.toLowerCase() !== part.word) return undefined;
  }
  return args;
}

/** Two phrases that one text could say, in different tools or twice in one. */
export interface Ambiguity {
  tool: string;
  phrase: string;
  other: string;
  otherPhrase: string;
}

export function ambiguities(tools: readonly Tool[]): Ambiguity[] {
  const all = tools.flatMap((tool) => (tool.say ?? []).map((phrase) => ({ tool, phrase })));
  return all.flatMap(({ tool, phrase }, at) =>
    all
      .slice(0, at)
      .filter((earlier) => canMeet([tool, phrase], [earlier.tool, earlier.phrase]))
      .map((earlier) => ({
        tool: tool.name,
        phrase,
        other: earlier.tool.name,
        otherPhrase: earlier.phrase,
      })),
  );
}

function canMeet([tool, phrase]: [Tool, string], [other, otherPhrase]: [Tool, string]): boolean {
  const [parts, others] = [partsOf(phrase), partsOf(otherPhrase)];
  if (parts.length !== others.length) return false;
  return parts.every((part, at) => {
    const beside = others[at];
    if (beside === undefined) return false;
    const [words, besides] = [wordsOf(tool, part), wordsOf(other, beside)];
    if (words === undefined || besides === undefined) return true;
    return words.some((word) => besides.includes(word));
  });
}

/** The words that can stand there; undefined: any. */
function wordsOf(tool: Tool, part: Part): string[] | undefined {
  if ("word" in part) return [part.word];
  const choices = inputForm(tool).fields.get(part.argument)?.schema.enum;
  return choices?.map((word) => String(word).toLowerCase());
}
