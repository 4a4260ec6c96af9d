import * as z from "zod";
import { estimateTokens } from "../core/block.ts";
import type { RunTerms } from "../core/run-terms.ts";
import { createSpellings, wordsIn } from "../core/spellings.ts";
import {
  FIND_TOOLS,
  STAY_SILENT_SPEC,
  UPDATE_PLAN_SPEC,
  USE_TOOL_SPEC,
} from "../core/tool-spec.ts";
import { argumentNames, toolSpec } from "./input-schema.ts";
import { defineTool, type Tool } from "./tool.ts";

/** Of a model's window, which part what every request begins with may take before anything is said (CORE 002.5R). */
const SHARE_OF_WINDOW = 1 / 4;
/** A server that brings more is searched: its schemas would bury the others'. */
const MAX_OF_GROUP = 30;
const MAX_FOUND = 6;

/**
 * Which tools requests do not describe, since their model has to find them: none where all descriptions fit. Else the first of
 * each group are described, then the second of each, and so on. Tools of one system are a group: they begin with its name and `_`.
 * `taken`: tokens of the part that the prompt and what models have besides these tools take.
 */
export function toolsToFind(
  tools: readonly Tool[],
  contextWindow: number,
  taken = 0,
): readonly Tool[] {
  const groups = Map.groupBy(tools, systemOf);
  const own = (tool: Tool) => groups.get(systemOf(tool)) ?? [];
  const small = tools.filter((tool) => own(tool).length <= MAX_OF_GROUP);
  const rank = (tool: Tool) => own(tool).indexOf(tool);
  const described = new Set<Tool>();
  let left = contextWindow * SHARE_OF_WINDOW - taken;
  for (const tool of small.toSorted((a, b) => rank(a) - rank(b))) {
    left -= tokensOf(tool);
    if (left < 0) break;
    described.add(tool);
  }
  return tools.filter((tool) => !described.has(tool));
}

/** What a run's terms say of these tools, of which its model has to find some. `plans`: it may keep a plan. */
export function toolTerms(
  tools: readonly Tool[],
  found: readonly Tool[],
  { plans = false }: { plans?: boolean } = {},
): Pick<RunTerms, "tools" | "foundTools"> {
  const named = tools.filter((tool) => !found.includes(tool)).map(toolSpec);
  const described = [...named, STAY_SILENT_SPEC, ...(plans ? [UPDATE_PLAN_SPEC] : [])];
  if (found.length === 0) return { tools: described };
  return { tools: [...described, USE_TOOL_SPEC], foundTools: found.map(({ name }) => name) };
}

/** Tokens of what a request says of what a model has besides people's tools: to be silent, to plan, to find and use these. */
export function ownTokens(
  tools: readonly Tool[],
  { plans = false }: { plans?: boolean } = {},
): number {
  const find = createFindTools(tools);
  return estimateTokens(JSON.stringify(toolTerms([find], tools, { plans }).tools));
}

/** Tokens of what a request says of a tool, estimated. */
export function tokensOf(tool: Tool): number {
  return estimateTokens(JSON.stringify(toolSpec(tool)));
}

/** What the names of a system's tools begin with. */
export function systemOf({ name }: Tool): string {
  return name.split("_", 1)[0] ?? name;
}

const input = z.strictObject({
  query: z
    .string()
    .min(1)
    .max(200)
    .describe("What it should do or on which system, in a few words")
    .meta({ examples: ["scale a deployment"] }),
});

/** Finds the tools that requests do not describe. */
export function createFindTools(tools: readonly Tool[]): Tool<z.infer<typeof input>> {
  const counts = [...Map.groupBy(tools, systemOf)].map(
    ([group, own]) => `${group} (${own.length})`,
  );
  const lists = `There are tools for: ${counts.join(", ")}.`;
  return defineTool({
    name: FIND_TOOLS,
    summary: "finds tools that are not described to the model",
    description: `Finds more tools, with their arguments, by what they do. ${USE_TOOL_SPEC.name} calls them. ${lists}`,
    input,
    effect: "read",
    doing: ({ query }) => `Looking for a tool: ${query}`,
    ours: true,
    timeoutMs: 5_000,
    async run({ query }) {
      const found = search(tools, query);
      if (found.length === 0) return { text: `No tool fits these words. ${lists}` };
      return { text: found.map(describe).join("\n\n") };
    },
  });
}

/** The best first: names count three times as much as what is said of a tool, and words the more, the fewer tools have them. */
function search(tools: readonly Tool[], query: string): Tool[] {
  const texts = tools.map((tool) => {
    const name = wordsIn(words(tool.name));
    const about = wordsIn(`${tool.description} ${argumentNames(tool).join(" ")}`);
    return { tool, name, about, score: 0 };
  });
  const spellings = createSpellings();
  for (const { name, about } of texts) spellings.add([...name, ...about]);
  for (const word of new Set(wordsIn(words(query)))) {
    const alike = new Set(spellings.alike(word));
    const fit = (other: string) =>
      other === word ? 1 : other.startsWith(word) || alike.has(other) ? 0.4 : 0;
    const best = (all: readonly string[]) => Math.max(0, ...all.map(fit));
    const scores = texts.map(({ name, about }) => 3 * best(name) + best(about));
    const rarity = Math.log(1 + tools.length / scores.filter((score) => score > 0).length);
    for (const [i, text] of texts.entries()) text.score += rarity * (scores[i] ?? 0);
  }
  return texts
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MAX_FOUND)
    .map(({ tool }) => tool);
}

function words(name: string): string {
  return name.replaceAll("_", " ");
}

function describe(tool: Tool): string {
  const { name, description, schema } = toolSpec(tool);
  return `${name} (${tool.effect}): ${description}\narguments: ${JSON.stringify(schema)}`;
}
