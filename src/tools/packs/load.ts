import { access, constants, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf } from "../../core/errors.ts";
import { MAX_LEARNED_LENGTH } from "../../security/encoder.ts";
import { pathText } from "../../core/zod-issues.ts";
import { STAY_SILENT, USE_TOOL } from "../../core/tool-spec.ts";
import { readTextFile, readYaml } from "../../core/yaml-file.ts";
import { FIND_TOOLS } from "../../core/tool-spec.ts";
import { argumentNames } from "../input-schema.ts";
import { ambiguities } from "../say.ts";
import type { Tool } from "../tool.ts";
import { toolProblems, undoProblem } from "./problems.ts";
import { packSchema, type PackTool } from "./schema.ts";
import { baseProblem } from "./request.ts";
import { createPackTool } from "./tool.ts";
import { requestsIn, variablesIn } from "./work.ts";

/** Packs from folders: read, checked for themselves, then beside each other and the program's own tools. */

const MAX_FILES = 100;

/** Models find and call others by them. */
const RESERVED: ReadonlySet<string> = new Set([USE_TOOL, FIND_TOOLS, STAY_SILENT]);

export interface Pack {
  /** As people know it, such as `packs/shop.yaml`. */
  name: string;
  tools: readonly { tool: Tool; source: PackTool; at(path: readonly PropertyKey[]): string }[];
}

/** A file as the folder had it. `stamp` changes whenever its content may have. */
export interface PackFile {
  name: string;
  path: string;
  stamp: string;
}

/** The pack files of the folders in order. Problems are added to `problems`. */
export async function listPacks(
  folders: readonly string[],
  problems: string[],
): Promise<PackFile[]> {
  const files: PackFile[] = [];
  for (const folder of folders) {
    try {
      const open = await writableIn(folder);
      if (open !== undefined) {
        problems.push(
          `${open.path}: ${open.who} can write into this folder, so the packs in ${folder} are not read; chmod ${open.chmod} it`,
        );
        continue;
      }
      const names = (await readdir(folder)).filter((name) => !name.startsWith(".")).toSorted();
      for (const name of names.filter((each) => each.endsWith(".yml")))
        problems.push(`${join(folder, name)}: this name is not read; rename it to .yaml`);
      const packs = names.filter((name) => name.endsWith(".yaml"));
      if (packs.length > MAX_FILES)
        problems.push(`${folder}: has more than ${MAX_FILES} packs; the others are not read`);
      for (const name of packs.slice(0, MAX_FILES)) {
        const path = join(folder, name);
        files.push({ name: path, path, stamp: await stampOf(path) });
      }
    } catch (error) {
      problems.push(`${folder}: it cannot be read (${codeOf(error) ?? "no code"})`);
    }
  }
  return files;
}

interface Writers {
  who: string;
  /** What of `chmod` takes the right away. */
  chmod: string;
}

/**
 * Who else may write what runs with our rights; undefined: nobody. The groups of this process may: a volume of Kubernetes belongs
 * to one, and often everything of a user to a group of its own. Owners are not looked at: in a container files belong to numbers.
 */
export function writersOf(
  { mode, gid }: { mode: number; gid: number },
  groups: readonly number[] = process.getgroups?.() ?? [],
): Writers | undefined {
  if ((mode & 0o002) !== 0) return { who: "everybody", chmod: "o-w" };
  const isForeign = gid !== process.getegid?.() && !groups.includes(gid);
  return (mode & 0o020) !== 0 && isForeign ? { who: `group ${gid}`, chmod: "g-w" } : undefined;
}

/** A mounted ConfigMap is a folder that everybody may write into, of a file system that nobody can write to. */
async function isReadOnly(path: string): Promise<boolean> {
  const problem: unknown = await access(path, constants.W_OK).catch((error: unknown) => error);
  return codeOf(problem) === "EROFS";
}

/** The folder, or one that it is in, into which others may write; in those a sticky bit keeps what is another's. */
async function writableIn(folder: string): Promise<(Writers & { path: string }) | undefined> {
  let path = await realpath(folder);
  for (let isOwn = true; ; isOwn = false) {
    const found = await stat(path);
    const writers = writersOf(found);
    const isSafe = !isOwn && (found.mode & 0o1000) !== 0;
    if (writers !== undefined && !isSafe && !(await isReadOnly(path))) return { path, ...writers };
    if (dirname(path) === path) return undefined;
    path = dirname(path);
  }
}

/** What cannot be looked at is told when it is read, and hides no other pack. */
async function stampOf(path: string): Promise<string> {
  try {
    const { mtimeMs, size, ino, mode } = await stat(path);
    return `${mtimeMs} ${size} ${ino} ${mode}`;
  } catch (error) {
    return codeOf(error) ?? "no code";
  }
}

/** The pack in a file, or undefined with every mistake in it. */
export async function readPack(
  source: Pick<PackFile, "name" | "path">,
  variable: (name: string) => string | undefined,
  mistakes: string[],
): Promise<Pack | undefined> {
  const before = mistakes.length;
  const file = await readTextFile(source, mistakes);
  if (file === undefined) return undefined;
  const writers = writersOf(file);
  if (writers !== undefined && !(await isReadOnly(source.path))) {
    const { who, chmod } = writers;
    mistakes.push(
      `${file.name}: ${who} can change this file, so it is not read; chmod ${chmod} it`,
    );
    return undefined;
  }
  const found: string[] = [];
  const { values, at } = await readYaml(file, packSchema, found);
  const lines = file.text.split("\n");
  mistakes.push(...found.map((text) => text + unquotedHint(text, lines)));
  for (const [tool, written] of Object.entries(values?.tools ?? {})) {
    for (const [path, text] of toolProblems(written)) {
      const place = ["tools", tool, ...path];
      mistakes.push(`${at(place)}: ${pathText(place)}: ${text}`);
    }
    for (const text of new Set(variableProblems(written, (each) => variable(each) ?? "")))
      mistakes.push(`${at(["tools", tool])}: tools.${tool}: ${text}`);
  }
  if (values === undefined || mistakes.length > before) return undefined;
  const tools = Object.entries(values.tools).map(([tool, written]) => ({
    tool: createPackTool(tool, written, (each) => variable(each) ?? ""),
    source: written,
    at: (path: readonly PropertyKey[]) => at(["tools", tool, ...path]),
  }));
  return { name: file.name, tools };
}

/** To yaml, `{{` without quotes begins a map within a map. */
function unquotedHint(mistake: string, lines: readonly string[]): string {
  const line = lines[Number(/:(\d+):\d+: /.exec(mistake)?.[1]) - 1] ?? "";
  const isUnquoted = line.replaceAll(/"[^"]*"|'[^']*'/g, "").includes("{{");
  return isUnquoted ? "; put quotes around a text with {{…}}" : "";
}

function variableProblems(source: PackTool, variable: (name: string) => string): string[] {
  const unset = variablesIn(source).filter((name) => variable(name) === "");
  const long = variablesIn(source).filter((name) => variable(name).length > MAX_LEARNED_LENGTH);
  return [
    ...long.map((name) => `the variable ${name} is longer than 8 KiB`),
    ...requestsIn(source).flatMap((request) => baseProblem(request, variable) ?? []),
    ...unset.map((name) => `the variable ${name} is not set, or it is one of the program's own`),
  ];
}

/** What is wrong with a pack beside these tools, those of earlier packs among them. */
export function mistakesBeside(pack: Pack, others: readonly Tool[]): string[] {
  const own = pack.tools.map(({ tool }) => tool);
  const argumentsOf = (name: string) => {
    const tool = [...own, ...others].find((each) => each.name === name);
    return tool && argumentNames(tool);
  };
  const mistakes = pack.tools.flatMap(({ tool: { name }, source, at }) => {
    const target = pack.tools.find((each) => each.tool.name === source.undo?.tool)?.source;
    const undo = undoProblem(source, argumentsOf, target);
    return [
      ...(RESERVED.has(name) || others.some((each) => each.name === name)
        ? [`${at([])}: tools.${name}: there is a tool of this name already; choose another`]
        : []),
      ...(undo === undefined ? [] : [`${at(["undo"])}: tools.${name}.undo: ${undo}`]),
    ];
  });
  const doubles = ambiguities([...others, ...own]).flatMap(
    ({ tool, phrase, other, otherPhrase }) => {
      const found = pack.tools.find((each) => each.tool.name === tool);
      if (found === undefined) return [];
      const place = found.at(["say", found.source.say.indexOf(phrase)]);
      return [
        `${place}: tools.${tool}.say: "${phrase}" could also mean "${otherPhrase}" of ${other}; change one of them`,
      ];
    },
  );
  return [...mistakes, ...doubles];
}
