import type { Answer, CallResult, GoalCard } from "../adapters/shown.ts";
import { GOAL_TOOLS, type ShownGoal, type ShownGoalTask } from "../core/goal.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { inPages } from "../core/pages.ts";
import { callsOf } from "../thread/family.ts";
import { fold } from "../thread/fold.ts";
import { estimateFor } from "../thread/extending.ts";
import { nextGoalExtension } from "../thread/goals/clicks.ts";
import { shownGoal } from "../thread/goals/goal.ts";
import type { Goal } from "../thread/goals/state.ts";
import { Thread } from "../thread/state.ts";
import type { Journal } from "../journal/journal.ts";
import { goalReport, reportName } from "./goal-report.ts";
import type { LinkRule } from "../core/links.ts";
import { linksIn, resultOf, resultTexts } from "./results.ts";
import type { Encode } from "./cards.ts";

/** A goal as people see it, and what came of it. */

/** As of the newest entry: its clock has stood still since. */
export function encodedGoal(thread: Pick<Thread, "runs">, goal: Goal, encode: Encode): ShownGoal {
  const shown = shownGoal(thread, goal, goal.used.since ?? 0);
  const said = (text: string | undefined) => (text === undefined ? undefined : encode(text));
  const tasks = shown.tasks.map((task): ShownGoalTask => ({
    ...task,
    text: encode(task.text),
    reason: said(task.reason),
  }));
  const report = shown.report.map(({ call, heading, text }) => ({
    call,
    heading: said(heading),
    text: encode(text),
  }));
  const { text, by, why, answer } = shown;
  return {
    ...shown,
    text: encode(text),
    by: said(by),
    why: said(why),
    answer: said(answer),
    tasks,
    report,
  };
}

export function goalCardOf(thread: Pick<Thread, "runs">, goal: Goal, encode: Encode): GoalCard {
  const shown = encodedGoal(thread, goal, encode);
  const { number, more } = nextGoalExtension(goal);
  const extension = { number, estimate: estimateFor(goal.used, more) };
  return { ...shown, id: shown.goal, extension: goal.status === "ended" ? undefined : extension };
}

/** What the calls of the goal's runs returned, in their order. */
export async function resultsOfGoal(
  entries: Awaited<ReturnType<Journal["read"]>>,
  name: string,
  encode: Encode,
): Promise<CallResult[]> {
  const thread = new Thread();
  const results = new Map<string, CallResult>();
  const texts = resultTexts(entries);
  for await (const page of inPages(entries)) {
    for (const entry of page) {
      const isOver = entry.kind === "goal_judged" || entry.kind === "goal_state";
      const run = isOver ? thread.runs.get(thread.goals.get(name)?.work?.run ?? "") : undefined;
      // Once it is judged its run is forgotten.
      for (const call of run === undefined ? [] : callsOf(run).filter(isEvidence))
        for (const result of run === undefined ? [] : resultOf(call, run, encode, texts))
          results.set(result.call, result);
      fold(thread, [entry]);
    }
  }
  return [...results.values()];
}

/** Notes and sections of the report rest on others. */
function isEvidence({ tool }: { tool: string }): boolean {
  return !Object.values<string>(GOAL_TOOLS).includes(tool);
}

/** What is said once it has ended. `results`: what it may rest on. */
export function goalAnswer(
  { key, thread }: { key: JournalKey; thread: Thread },
  goal: Goal,
  { encode, mayLink }: { encode: Encode; mayLink: LinkRule | undefined },
  { results = [], link }: { results?: readonly CallResult[]; link?: string | undefined } = {},
): Answer {
  const shown = encodedGoal(thread, goal, encode);
  const { steps, usage, money, ms } = goal.used;
  const text = shown.answer ?? "";
  const links = linksIn(text, thread, mayLink);
  const hasReport = shown.report.length > 0;
  return {
    kind: "answer",
    run: shown.goal,
    goal: { text: shown.text, key },
    status: STATUSES[shown.status] ?? "completed",
    text,
    results: [...results],
    isModelRun: true,
    spent: { steps, usage, money, workMs: ms },
    ...(links.length > 0 && { links }),
    ...(hasReport && {
      file: { name: reportName(shown), text: goalReport(shown, results, link) },
    }),
  };
}

const STATUSES: Readonly<Partial<Record<ShownGoal["status"], Answer["status"]>>> = {
  done: "completed",
  partly: "wrapped_up",
  failed: "failed",
  stopped: "cancelled",
};
