import * as z from "zod";
import { GOAL_TOOLS } from "../../core/goal.ts";
import { wordsIn } from "../../core/spellings.ts";
import { counted } from "../../core/text.ts";
import type { GoalWork } from "../integration.ts";
import { defineTool } from "../tool.ts";

/** Of a longer line the beginning counts. */
const MAX_LINE = 300;
const MAX_LINES = 200_000;
/** About 1,000 tokens. */
const MAX_SHOWN = 4_000;

const input = z
  .strictObject({
    artifact: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe("The id of an artifact of this thread, as a cut result names it")
      .meta({ examples: ["0f1e2d3c4b5a6978"] }),
    text: z.string().min(1).max(200_000).optional().describe("A text, in place of an artifact"),
    about: z
      .string()
      .max(200)
      .optional()
      .describe("What matters, in a few words: lines that say it come first")
      .meta({ examples: ["timeouts of the database"] }),
  })
  .refine(({ artifact, text }) => (artifact === undefined) !== (text === undefined), {
    message: "give either artifact or text",
  });

/** Cuts a long text down to what says most; lines that differ by numbers alone are one, with how often it came. */
export function createSummarize(goals: () => GoalWork) {
  return defineTool({
    name: GOAL_TOOLS.summarize,
    summary: "cuts an artifact or a long text down to the lines that say most, for tasks of a goal",
    description:
      "Cuts an artifact or a long text down to the lines that say most, at most 4,000 characters: those about what you name, errors, and what is rare. Lines that differ by numbers alone are one line with its count. Nothing is put in other words, so what it returns can be cited.",
    input,
    effect: "read",
    doing: ({ about }) => (about === undefined ? "Summing up a long text" : `Summing up: ${about}`),
    timeoutMs: 20_000,
    async run({ artifact, text, about = "" }, { asker, readArtifact }) {
      await goals().check(asker);
      const whole = text ?? new TextDecoder().decode(await readArtifact(artifact ?? ""));
      return { text: mostOf(whole, about) };
    },
  });
}

interface Line {
  text: string;
  at: number;
  count: number;
  score: number;
}

const TROUBLE =
  /\b(?:err(?:or|ors|ed)?|fatal|panic|fail(?:ed|ure|s)?|exception|denied|refused|timed? ?out|timeout|oom|killed|crash(?:ed|es)?|unreachable|critical)\b/i;

/** The lines that say most, in their order. */
export function mostOf(whole: string, about: string): string {
  const all = whole.split("\n", MAX_LINES).filter((line) => line.trim() !== "");
  const wanted = new Set(wordsIn(about));
  const lines = groupsOf(all);
  for (const line of lines) line.score = scoreOf(line, wanted);
  const kept: Line[] = [];
  let left = MAX_SHOWN;
  for (const line of lines.toSorted((a, b) => b.score - a.score || a.at - b.at)) {
    left -= line.text.length + 10;
    if (left < 0) break;
    kept.push(line);
  }
  const shown = kept
    .toSorted((a, b) => a.at - b.at)
    .map(({ text, count }) => (count === 1 ? text : `${text} (×${count})`));
  const head = `${counted(kept.length, "line")} of ${lines.length.toLocaleString("en")} different ones; the whole text has ${all.length.toLocaleString("en")}.`;
  return [head, ...shown].join("\n");
}

/** Lines that differ by numbers alone, as their first one. */
function groupsOf(all: readonly string[]): Line[] {
  const groups = new Map<string, Line>();
  for (const [at, line] of all.entries()) {
    const text = line.trim().slice(0, MAX_LINE).toWellFormed();
    const form = text.replaceAll(/[0-9a-f]*\d[0-9a-f]*/gi, "0");
    const known = groups.get(form);
    if (known === undefined) groups.set(form, { text, at, count: 1, score: 0 });
    else known.count += 1;
  }
  return [...groups.values()];
}

/** What was asked about counts most, then trouble, then what is rare. */
function scoreOf({ text, count }: Line, wanted: ReadonlySet<string>): number {
  const about = new Set(wordsIn(text).filter((word) => wanted.has(word))).size;
  return about * 10 + (TROUBLE.test(text) ? 5 : 0) + 1 / count;
}
