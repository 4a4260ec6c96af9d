import { resolve } from "node:path";
import { estimateTokens } from "../../core/block.ts";
import { counted } from "../../core/text.ts";
import { settingsOf } from "../../core/settings.ts";
import type { Config } from "../../config/config.ts";
import { describeInput, toolSpec } from "../../tools/input-schema.ts";
import { foldersOf, packs } from "../../tools/packs/integration.ts";
import { listPacks, mistakesBeside, readPack } from "../../tools/packs/load.ts";
import type { Tool } from "../../tools/tool.ts";
import { createTools } from "../../tools/registry.ts";

/** Each pack of the configuration's folders, or one file: its mistakes, or its tools as models and people get them. */
export async function checkPacks(
  config: Config,
  folder: string,
  file: string | undefined,
): Promise<{ lines: string[]; isFine: boolean }> {
  const mistakes: string[] = [];
  const variable = (name: string) => config.variables[name] ?? "";
  const tools = [...(await createTools(config.values, { variable }))];
  const folders = foldersOf(settingsOf(packs, config.values));
  if (file === undefined && folders.length === 0)
    return {
      lines: ["There is nothing to check: set PACKS_DIR, or name a file."],
      isFine: false,
    };
  const files =
    file === undefined
      ? await listPacks(folders, mistakes)
      : [{ name: file, path: resolve(folder, file) }];
  const lines: string[] = [];
  for (const each of files) {
    const before = mistakes.length;
    const pack = await readPack(each, (name) => config.variable(name), mistakes);
    if (pack !== undefined) mistakes.push(...mistakesBeside(pack, tools));
    if (pack === undefined || mistakes.length > before) continue;
    lines.push(`${each.name}: fine`, ...pack.tools.map(({ tool }) => shownTool(tool)));
    tools.push(...pack.tools.map(({ tool }) => tool));
  }
  const verdict =
    mistakes.length === 0
      ? `${counted(files.length, "pack")}, no mistake`
      : counted(mistakes.length, "mistake");
  return { lines: [...lines, ...mistakes, verdict], isFine: mistakes.length === 0 };
}

function shownTool(tool: Tool): string {
  const tokens = estimateTokens(JSON.stringify(toolSpec(tool)));
  const said = (tool.say ?? []).map((phrase) => `\n    say: ${phrase}`).join("");
  return `  ${describeInput(tool)}\n    ${tool.effect}, about ${counted(tokens, "token")} in a model's tool list${said}`;
}
