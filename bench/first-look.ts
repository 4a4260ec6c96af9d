import { join } from "node:path";
import { createFirstLookRuns, type Spent, type Way } from "../test/checks/first-look-runs.ts";
import { HELD_OUT_QUESTIONS } from "../test/checks/held-out-questions.ts";
import { type Asked, PLAIN_QUESTIONS } from "../test/checks/plain-questions.ts";
import { everyTool } from "../test/skills/every-tool.ts";
import { loadSkills } from "../src/skills/load.ts";
import type { Figure } from "./journal.ts";

/**
 * What whole runs take with `model.firstLook` and without it: counts, the same in every run. The model is scripted: it shows how much
 * is saved where a model asks like that, and not how a live one asks.
 */
export async function firstLookFigures(): Promise<Figure[]> {
  const { skills } = await loadSkills([join(import.meta.dirname, "../skills")], (text) => text);
  const { tools } = await everyTool();
  const runs = createFirstLookRuns({ skills, tools });
  const fitting = ([question]: Asked) => runs.ofSkill(question);
  const rows = [
    ["the skill's reads", PLAIN_QUESTIONS, fitting, "all at once"],
    ["the skill's reads", PLAIN_QUESTIONS, fitting, "one by one"],
    ["other questions, the reads they need", HELD_OUT_QUESTIONS, runs.needed, "all at once"],
  ] as const;
  const figures: Figure[] = [];
  for (const [what, questions, readsOf, way] of rows) {
    const off = await allOf(questions, readsOf, way, false);
    const on = await allOf(questions, readsOf, way, true);
    const fewer = off.filter(({ requests }, at) => requests > (on[at]?.requests ?? 0)).length;
    const name = `${what}, ${way}`;
    figures.push({
      name: `${name}: requests; fewer`,
      value: `${compared(off, on, ({ requests }) => requests)}; of ${fewer} of ${questions.length}`,
    });
    for (const [part, of] of Object.entries(PARTS)) {
      figures.push({ name: `  ${part}`, value: compared(off, on, of) });
    }
  }
  return figures;

  async function allOf(
    questions: readonly Asked[],
    readsOf: (asked: Asked) => ReturnType<typeof runs.needed>,
    way: Way,
    firstLook: boolean,
  ): Promise<Spent[]> {
    const all: Spent[] = [];
    for (const asked of questions) {
      all.push(await runs.ask(asked[0], readsOf(asked), way, firstLook));
    }
    return all;
  }
}

const PARTS: Readonly<Record<string, (spent: Spent) => number>> = {
  "input tokens": ({ input }) => input,
  "  of them beyond the system's text and the tools": ({ input, prefix }) => input - prefix,
  "output tokens": ({ output }) => output,
  "reads that were made": ({ calls }) => calls.length,
};

function compared(
  off: readonly Spent[],
  on: readonly Spent[],
  of: (spent: Spent) => number,
): string {
  const [before, after] = [off, on].map((all) => all.reduce((sum, each) => sum + of(each), 0));
  return `${before} → ${after} (× ${((after ?? 0) / (before ?? 0)).toFixed(2)})`;
}
