import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { Document, LineCounter } from "yaml";
import * as z from "zod";
import { codeOf, messageOf } from "./errors.ts";
import { unknownName } from "./suggest.ts";
import { issueText, mistakeText, pathText } from "./zod-issues.ts";

/** Yaml that people write by hand: every mistake with its line, and what to write instead. */

/** For what is parsed once: zod then compiles no parser of its own for the schema, which takes longer than to parse. */
export const ONCE = { jitless: true } as const;

export interface TextFile {
  /** As people know it, for mistakes. */
  name: string;
  path: string;
  text: string;
  /** Permission bits. */
  mode: number;
  /** The number of its group. */
  gid: number;
}

export interface YamlFile<T> {
  /** Undefined when there were mistakes. */
  readonly values: T | undefined;
  /** Where the value at a path stands: `watchkeeper.yaml:7:14`, counted from 1. */
  at(path: readonly PropertyKey[]): string;
}

type Locate = (path: readonly PropertyKey[]) => { at: string; found: boolean };

/** 1 MiB: a hundred times what a long policy takes. */
const MAX_FILE_BYTES = 1024 * 1024;

/** The file's text; undefined with a mistake that says why. `name`: what people know it as. */
export async function readTextFile(
  { name, path, label = name }: { name: string; path: string; label?: string },
  mistakes: string[],
): Promise<TextFile | undefined> {
  try {
    // Non-blocking, so that a named pipe is refused instead of waited for.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = await file.stat();
    if (!stat.isFile()) mistakes.push(`${label}: expected a regular file`);
    else if (stat.size > MAX_FILE_BYTES) mistakes.push(`${label}: larger than 1 MiB`);
    else {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.readFile());
      return { name, path, text, mode: stat.mode, gid: stat.gid };
    }
  } catch (error) {
    const code = codeOf(error) ?? messageOf(error);
    const why = code === "ENOENT" ? "there is no such file" : `it cannot be read (${code})`;
    const encoding = code === "ERR_ENCODING_INVALID_ENCODED_DATA";
    mistakes.push(`${label}: ${encoding ? "expected a text in UTF-8" : why}`);
  }
  return undefined;
}

/** Every mistake is added to `mistakes` as `file:line:column: key: what is wrong and what is expected`. */
export async function readYaml<T>(
  { name, text }: Pick<TextFile, "name" | "text">,
  schema: z.ZodType<T>,
  mistakes: string[],
): Promise<YamlFile<T>> {
  const yaml = await import("yaml");
  const lines = new yaml.LineCounter();
  try {
    const strict = { prettyErrors: false, stringKeys: true, logLevel: "error" } as const;
    const document = yaml.parseDocument(text, { lineCounter: lines, ...strict });
    const locate = createLocate(yaml, document, name, lines);
    const at = (keys: readonly PropertyKey[]) => locate(keys).at;
    for (const { code, message, pos } of [...document.errors, ...document.warnings]) {
      mistakes.push(`${place(name, lines, pos[0])}: ${YAML_MISTAKES[code] ?? message}`);
    }
    if (document.errors.length > 0) return { values: undefined, at };
    for (const { offset, what } of surprises(yaml, document)) {
      mistakes.push(`${place(name, lines, offset)}: ${what}`);
    }
    // An empty file, or one of comments only, has nothing in it, not even an empty map.
    const values: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
    const result = schema.safeParse(values, ONCE);
    for (const issue of result.error?.issues ?? []) {
      mistakes.push(...fileMistakes(issue, locate, schema));
    }
    return { values: result.data, at };
  } catch (error) {
    // Aliases that multiply or lead nowhere, and nesting deeper than the stack.
    mistakes.push(`${name}: it cannot be read as yaml: ${messageOf(error)}`);
    return { values: undefined, at: () => name };
  }
}

const YAML_MISTAKES: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "this key is there twice",
  MULTIPLE_DOCS: "expected one document; remove this --- and what follows, or what is before it",
  NON_STRING_KEY: "expected a text as the key",
};

/** What yaml reads differently from what a person means, and no schema would notice. */
function surprises(
  yaml: typeof import("yaml"),
  document: Document.Parsed,
): { offset: number; what: string }[] {
  const found: { offset: number; what: string }[] = [];
  yaml.visit(document, {
    Scalar(key, { value, source, range }) {
      const offset = range?.[0] ?? 0;
      if (key === "key" && value === "__proto__") {
        found.push({ offset, what: "__proto__ cannot be a key" });
      }
      if (typeof value === "number" && source !== undefined && source !== String(value)) {
        const what = `${source} is the number ${value}; write that, or put quotes around it`;
        found.push({ offset, what });
      }
    },
  });
  return found;
}

function fileMistakes(issue: z.core.$ZodIssue, locate: Locate, schema: z.ZodType): string[] {
  if (issue.code !== "unrecognized_keys") {
    const { at, found } = locate(issue.path);
    return [`${at}: ${mistakeText(pathText(issue.path) || "the file", issueText(issue, !found))}`];
  }
  const known = keysAt(issue.path, schema);
  return issue.keys.map((key) => {
    const path = [...issue.path, key];
    return `${locate(path).at}: ${pathText(path)}: ${unknownName(key, known)}`;
  });
}

/** What may stand at a path. A schema with transformations tells it on one of its sides only. */
function keysAt(path: readonly PropertyKey[], schema: z.ZodType): string[] {
  for (const io of ["input", "output"] as const) {
    let at: z.core.JSONSchema.BaseSchema = z.toJSONSchema(schema, { io, unrepresentable: "any" });
    for (const step of path) {
      const next =
        typeof step === "string" ? (at.properties?.[step] ?? at.additionalProperties) : at.items;
      at = typeof next !== "object" || Array.isArray(next) ? {} : next;
    }
    const keys = Object.keys(at.properties ?? {});
    if (keys.length > 0) return keys;
  }
  return [];
}

function place(name: string, lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `${name}:${line}:${col}`;
}

/** A key is found where the key stands, an element of a list where the element does, what is missing at its parent. */
function createLocate(
  yaml: typeof import("yaml"),
  document: Document.Parsed,
  name: string,
  lines: LineCounter,
): Locate {
  return (path) => {
    let node: unknown = document.contents;
    let offset = 0;
    for (const step of path) {
      if (yaml.isAlias(node)) node = node.resolve(document);
      let marker: unknown;
      if (yaml.isMap(node) && typeof step === "string") {
        const pair = node.items.find(({ key }) => yaml.isScalar(key) && key.value === step);
        marker = pair?.key;
        node = pair?.value;
      } else {
        // Where a list of one may be written without its brackets, the path is the list's.
        if (yaml.isSeq(node)) node = node.items[Number(step)];
        else if (step !== 0) node = undefined;
        marker = node;
      }
      if (!yaml.isNode(marker)) return { at: place(name, lines, offset), found: false };
      offset = marker.range?.[0] ?? offset;
    }
    return { at: place(name, lines, offset), found: true };
  };
}
