import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { resolve } from "node:path";
import type { Document, LineCounter } from "yaml";
import * as z from "zod";
import { codeOf, messageOf } from "../core/errors.ts";
import { issueText, mistakeText, pathText } from "../core/zod-issues.ts";
import { unknownName } from "../core/suggest.ts";
import { fileSchema } from "./table.ts";

export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  /** Undefined when there were mistakes. */
  readonly settings: z.infer<typeof fileSchema> | undefined;
  /** Where the value at a path stands: `watchkeeper.yaml:7:14`, counted from 1. */
  at(path: readonly PropertyKey[]): string;
}

type Locate = (path: readonly PropertyKey[]) => { at: string; found: boolean };

/** 1 MiB: a hundred times what a long policy takes. */
const MAX_FILE_BYTES = 1024 * 1024;

/**
 * Reads `named`, or, when that is empty, `watchkeeper.yaml` if there is one. Every mistake is added to `mistakes` as
 * `file:line:column: key: what is wrong and what is expected`. Undefined: no file was read.
 */
export async function readConfigFile(
  named: string,
  cwd: string,
  mistakes: string[],
): Promise<ConfigFile | undefined> {
  const source = await readSource(named, cwd, mistakes);
  return source && readSettings(source, mistakes);
}

interface Source {
  /** As people know it, for mistakes. */
  name: string;
  path: string;
  text: string;
}

/** The yaml's text; undefined when there is none, which is a mistake only of one that was named. */
async function readSource(
  named: string,
  cwd: string,
  mistakes: string[],
): Promise<Source | undefined> {
  const name = named === "" ? "watchkeeper.yaml" : named;
  const path = resolve(cwd, name);
  const label = named === "" ? name : `WATCHKEEPER_CONFIG: ${name}`;
  if (named === "" && !(await exists(path))) {
    // A policy that is silently not read would be worse than none.
    if (!(await exists(resolve(cwd, "watchkeeper.yml")))) return undefined;
    mistakes.push("watchkeeper.yml: this name is not read; rename it to watchkeeper.yaml");
    return undefined;
  }
  try {
    // Non-blocking, so that a named pipe is refused instead of waited for.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const { size } = await file.stat().then((stat) => (stat.isFile() ? stat : { size: -1 }));
    if (size < 0) mistakes.push(`${label}: expected a regular file`);
    else if (size > MAX_FILE_BYTES) mistakes.push(`${label}: larger than 1 MiB`);
    else {
      const bytes = await file.readFile();
      return { name, path, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
    }
  } catch (error) {
    const code = codeOf(error) ?? messageOf(error);
    const why = code === "ENOENT" ? "there is no such file" : `it cannot be read (${code})`;
    const encoding = code === "ERR_ENCODING_INVALID_ENCODED_DATA";
    mistakes.push(`${label}: ${encoding ? "expected a text in UTF-8" : why}`);
  }
  return undefined;
}

/** True also of what cannot be looked at, such as a link to nowhere: someone meant it to be read. */
async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: unknown) => codeOf(error) !== "ENOENT",
  );
}

async function readSettings({ name, path, text }: Source, mistakes: string[]): Promise<ConfigFile> {
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
    if (document.errors.length > 0) return { path, settings: undefined, at };
    for (const { offset, what } of surprises(yaml, document)) {
      mistakes.push(`${place(name, lines, offset)}: ${what}`);
    }
    // An empty file, or one of comments only, has nothing in it, not even an empty map.
    const values: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
    const result = fileSchema.safeParse(values);
    for (const issue of result.error?.issues ?? []) {
      mistakes.push(...fileMistakes(issue, locate));
    }
    return { path, settings: result.data, at };
  } catch (error) {
    // Aliases that multiply or lead nowhere, and nesting deeper than the stack.
    mistakes.push(`${name}: it cannot be read as yaml: ${messageOf(error)}`);
    return { path, settings: undefined, at: () => name };
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

function fileMistakes(issue: z.core.$ZodIssue, locate: Locate): string[] {
  if (issue.code !== "unrecognized_keys") {
    const { at, found } = locate(issue.path);
    return [`${at}: ${mistakeText(pathText(issue.path) || "the file", issueText(issue, !found))}`];
  }
  const known = keysAt(issue.path);
  return issue.keys.map((key) => {
    const path = [...issue.path, key];
    return `${locate(path).at}: ${pathText(path)}: ${unknownName(key, known)}`;
  });
}

function keysAt(path: readonly PropertyKey[]): string[] {
  let schema: z.core.JSONSchema.BaseSchema = z.toJSONSchema(fileSchema, { io: "input" });
  for (const step of path) {
    const next = typeof step === "string" ? schema.properties?.[step] : schema.items;
    if (typeof next !== "object" || Array.isArray(next)) return [];
    schema = next;
  }
  return Object.keys(schema.properties ?? {});
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
      if (yaml.isMap(node)) {
        const pair = node.items.find(({ key }) => yaml.isScalar(key) && key.value === step);
        marker = pair?.key;
        node = pair?.value;
      } else {
        node = yaml.isSeq(node) ? node.items[Number(step)] : undefined;
        marker = node;
      }
      if (!yaml.isNode(marker)) return { at: place(name, lines, offset), found: false };
      offset = marker.range?.[0] ?? offset;
    }
    return { at: place(name, lines, offset), found: true };
  };
}
