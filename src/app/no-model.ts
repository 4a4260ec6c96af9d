import { isOrdered } from "../checks/askable.ts";
import { type CommandWord, USAGE, usage } from "../commands/phrases.ts";
import type { Tool } from "../tools/tool.ts";

/** Words that say nothing about a tool. */
const COMMON = new Set(
  "all and any are can check checks find finds for from has have how last list lists look me my new not now one our please read reads run see show shows tell tells that the there this was what when where which who why with you".split(
    " ",
  ),
);
/** Of a word, so that "disks" meets "disk" and "processes" "process". */
const STEM = 5;
const MAX_OFFERED = 3;

function stemsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[a-z]{3,}/g) ?? [];
  return new Set(
    words.filter((word) => !COMMON.has(word)).map((word) => word.replace(/s$/, "").slice(0, STEM)),
  );
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

/** A change that somebody orders, in the first words. */
const ORDER =
  /^\W*(?:(?:please|pls|hey|can you|could you|would you|kindly|just|now|sudo|systemctl|docker|kubectl|service)\s+)*([a-z]{4,})\s+(?:the\s+|a\s+|an\s+|my\s+|our\s+)?(\S[^]*)$/i;
/** What people call it in other words than our tools' names do. */
const SAME_ORDER: Readonly<Record<string, string>> = {
  reboot: "restart",
  bounce: "restart",
  restarting: "restart",
  terminate: "kill",
  remove: "delete",
  mute: "silence",
  rollback: "undo",
};

/** Tools that make the change that a text orders: its first word is in their names, and the object of their names is not another one. */
function wantedChange(text: string, tools: readonly Tool[]): Tool[] {
  const [, word = "", rest = ""] = ORDER.exec(text) ?? [];
  if (!isOrdered(text)) return [];
  const verb = SAME_ORDER[word.toLowerCase()] ?? word.toLowerCase();
  const objects = stemsOf(rest);
  const shared = (said: string) => [...stemsOf(said)].filter((stem) => objects.has(stem)).length;
  return (
    tools
      .filter(({ name, effect }) => effect !== "read" && name.split("_").includes(verb))
      .map((tool) => ({
        tool,
        score: 2 * shared(tool.name.replaceAll("_", " ")) + shared(tool.summary ?? ""),
      }))
      // Anything can be deleted: one that deletes something else is no hint.
      .filter(({ score }) => verb !== "delete" || score > 0)
      .toSorted((a, b) => b.score - a.score)
      .slice(0, MAX_OFFERED)
      .map(({ tool }) => tool)
  );
}

const NO_MODEL =
  "I don't have an AI model yet, and no check of my skills fits that. I can run checks that you name: try `run disk_usage` or `help`. Admins: set MODEL and its key (docs/configuration.md).";

/** A system whose tools are not offered. */
export interface MissingSystem {
  name: string;
  why: string;
}

/**
 * Answers plain language without a model: says that there is none, and names the reading tools whose names or one-line summaries
 * share words with the question; where there is none, that too.
 */
export function answerWithoutModel(
  text: string,
  tools: readonly Tool[],
  describe: (tool: Tool) => string,
  missing: readonly MissingSystem[] = [],
): string {
  const command = commandOn(text);
  if (command !== undefined) return `${usage(command)}, with the number that its card shows.`;
  const wanted = wantedChange(text, tools);
  if (wanted.length > 0) {
    const lines = wanted.map((tool) => `  run ${describe(tool)}`);
    return `I don't have an AI model yet, so I change nothing that is said in your own words. If you want that, write it out; I ask for approval before I run it:\n${lines.join("\n")}`;
  }
  const url = /https?:\/\/[^\s<>"']+/.exec(text)?.[0];
  const asked = stemsOf(url === undefined ? text : text.replace(url, ""));
  const isMeant = ({ name }: Tool) => url !== undefined && name === "http_check";
  const shared = (words: string) => [...stemsOf(words)].filter((word) => asked.has(word)).length;
  const best = tools
    // A question wants to know something: no tool that changes anything is suggested.
    .filter(({ effect }) => effect === "read")
    .map((tool) => {
      const [name, summary] = [tool.name.replaceAll("_", " "), tool.summary ?? ""];
      return { tool, score: 2 * shared(name) + shared(summary) + (isMeant(tool) ? 10 : 0) };
    })
    // One word of a summary is chance.
    .filter(({ score }) => score > 1)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MAX_OFFERED);
  const system = missing.find(({ name }) => shared(name) > 0);
  const absent = system && `${system.name} isn't set up: ${system.why}.`;
  const lines = best.map(
    ({ tool }) => `  run ${isMeant(tool) ? `http_check url=${url}` : describe(tool)}`,
  );
  if (lines.length > 0 && absent === undefined)
    return `${NO_MODEL}\nThese checks may help:\n${lines.join("\n")}`;
  return `${NO_MODEL}\n${absent ?? "I have no tool for that; `tools` lists what I have."}`;
}
