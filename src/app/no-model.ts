import type { Tool } from "../tools/tool.ts";

/** Words that say nothing about which tool is meant. */
const COMMON = new Set(
  "the and for with what why how when this that from does please can you are has not was".split(
    " ",
  ),
);

function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[a-z]{3,}/g) ?? [];
  return new Set(words.filter((word) => !COMMON.has(word)));
}

/**
 * The answer to plain language when no model is configured: says so, how to set one, and which tools share words with
 * the question. It does not pretend to have understood.
 */
export function answerWithoutModel(
  text: string,
  tools: readonly Tool[],
  describe: (tool: Tool) => string,
): string {
  const asked = wordsOf(text);
  const url = /https?:\/\/[^\s<>"']+/.exec(text)?.[0];
  const scored = tools.map((tool) => {
    const known = wordsOf(`${tool.name.replaceAll("_", " ")} ${tool.description}`);
    const shared = [...asked].filter((word) => known.has(word)).length;
    return { tool, score: shared + (url !== undefined && tool.name === "http_check" ? 10 : 0) };
  });
  const best = scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, 3);
  const lines = best.map(({ tool }) =>
    url !== undefined && tool.name === "http_check"
      ? `  run http_check url=${url}`
      : `  run ${describe(tool)}`,
  );
  const none =
    "No model is configured, so only direct commands are understood. To set one, start with MODEL=anthropic/<name> and ANTHROPIC_API_KEY, MODEL=openai/<name> and OPENAI_API_KEY, or MODEL=openai-compatible/<name> and OPENAI_BASE_URL.";
  if (lines.length === 0) return `${none}\n\`tools\` lists what can be run, \`help\` how.`;
  return `${none}\nTools that match your words:\n${lines.join("\n")}`;
}
