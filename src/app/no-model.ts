import { type CommandWord, USAGE, usage } from "../commands/phrases.ts";
import type { Tool } from "../tools/tool.ts";

const COMMON =
  "the and for with what why how when this that from does please can you are has not was".split(
    " ",
  );

function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[a-z]{3,}/g) ?? [];
  return new Set(words.filter((word) => !COMMON.includes(word)));
}

/** The command of which somebody left out the action that it is about. */
function commandOn(text: string): CommandWord | undefined {
  const word = text.trim().toLowerCase();
  return isCommand(word) && USAGE[word].some((form) => form.startsWith(`${word} a1`))
    ? word
    : undefined;
}

function isCommand(word: string): word is CommandWord {
  return Object.hasOwn(USAGE, word);
}

/** Answers plain language without a model: says that there is none, and names tools that share words with the question. */
export function answerWithoutModel(
  text: string,
  tools: readonly Tool[],
  describe: (tool: Tool) => string,
): string {
  const command = commandOn(text);
  if (command !== undefined) return `${usage(command)}, with the number that its card shows.`;
  const asked = wordsOf(text);
  const url = /https?:\/\/[^\s<>"']+/.exec(text)?.[0];
  const isMeant = ({ name }: Tool) => url !== undefined && name === "http_check";
  const scored = tools.map((tool) => {
    const known = wordsOf(`${tool.name.replaceAll("_", " ")} ${tool.description}`);
    const shared = [...asked].filter((word) => known.has(word)).length;
    return { tool, score: shared + (isMeant(tool) ? 10 : 0) };
  });
  const best = scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, 3);
  const lines = best.map(
    ({ tool }) => `  run ${isMeant(tool) ? `http_check url=${url}` : describe(tool)}`,
  );
  const none = `I don't have an AI model yet, so I can't answer questions, but I can run checks: try \`run disk_usage\` or \`help\`. Admins: set MODEL and its key (docs/configuration.md).`;
  return lines.length === 0 ? none : `${none}\nThese checks may help:\n${lines.join("\n")}`;
}
