import type { LiveTools } from "../integration.ts";
import type { Tool } from "../tool.ts";
import { variablesIn } from "./work.ts";
import { listPacks, mistakesBeside, type Pack, readPack } from "./load.ts";

interface Known {
  stamp: string;
  /** The newest that had no mistake in itself. */
  pack: Pack | undefined;
  mistakes: string[];
  /** What was in use last. */
  used: Pack | undefined;
}

/** The packs of some folders, looked at again whenever it is asked; one that breaks stays what it was. */
export function openPacks(
  folders: readonly string[],
  variable: (name: string) => string | undefined,
): LiveTools {
  let known = new Map<string, Known>();
  let tools: readonly Tool[] = [];
  let problems: readonly string[] = [];

  return {
    subject: "pack",
    get tools() {
      return tools;
    },
    get problems() {
      return problems;
    },
    get secrets() {
      const sources = [...known.values()].flatMap(({ used }) => used?.tools ?? []);
      const names = new Set(sources.flatMap(({ source }) => variablesIn(source)));
      return [...names].map((name) => ({ name, value: variable(name) ?? "" }));
    },
    async refresh(others) {
      const found: string[] = [];
      const files = await listPacks(folders, found);
      const next = new Map<string, Known>();
      for (const file of files) {
        const last = known.get(file.path);
        if (last?.stamp === file.stamp) {
          next.set(file.path, last);
          continue;
        }
        const mistakes: string[] = [];
        const pack = await readPack(file, variable, mistakes);
        next.set(file.path, { stamp: file.stamp, pack, mistakes, used: last?.used });
      }
      known = next;
      const accepted: Tool[] = [];
      for (const each of known.values()) {
        const beside = [...others, ...accepted];
        const wrong = each.pack === undefined ? each.mistakes : mistakesBeside(each.pack, beside);
        const isLastFine =
          each.used !== undefined && mistakesBeside(each.used, beside).length === 0;
        const used = wrong.length === 0 ? each.pack : isLastFine ? each.used : undefined;
        const kept =
          used === undefined ? "its tools are not offered" : "what it was before stays in use";
        found.push(...wrong.map((text) => `${text} (${kept})`));
        each.used = used;
        accepted.push(...(used?.tools.map(({ tool }) => tool) ?? []));
      }
      const isSame =
        accepted.length === tools.length && accepted.every((tool, at) => tool === tools[at]);
      tools = accepted;
      problems = found;
      return !isSame;
    },
  };
}
