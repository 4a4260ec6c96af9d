import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../../core/errors.ts";
import { pathText } from "../../core/zod-issues.ts";
import { USE_TOOL } from "../../core/tool-spec.ts";
import { readTextFile, readYaml } from "../../core/yaml-file.ts";
import { FIND_TOOLS } from "../find-tools.ts";
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
const RESERVED: ReadonlySet<string> = new Set([USE_TOOL, FIND_TOOLS]);

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
      const { mode } = await stat(folder);
      if ((mode & 0o002) !== 0) {
        problems.push(
          `${folder}: everybody can write into this folder, so its packs are not read; chmod o-w it`,
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
  if ((file.mode & 0o002) !== 0) {
    mistakes.push(`${file.name}: everybody can change this file, so it is not read; chmod o-w it`);
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
  return [
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
