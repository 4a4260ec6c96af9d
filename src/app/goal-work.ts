import { BotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { Journal } from "../journal/journal.ts";
import { runOfCall } from "../thread/entry-ids.ts";
import { rootOf } from "../thread/family.ts";
import { MAX_REPORT } from "../thread/goals/fold.ts";
import { fold } from "../thread/fold.ts";
import type { Goal } from "../thread/goals/state.ts";
import { standing } from "../thread/goals/phrases.ts";
import { Thread } from "../thread/state.ts";
import type { GoalWork } from "../tools/integration.ts";

/** What the runs of goals use of their own goal, from the journal of its thread. */
export function createGoalWork(journal: Pick<Journal, "read">): GoalWork {
  /** @throws BotError NOT_AVAILABLE for a call of any other run */
  async function goalOf(asker: { key: JournalKey; call: string } | undefined): Promise<Goal> {
    const thread = asker && fold(new Thread(), await journal.read(asker.key));
    const run = thread?.runs.get(runOfCall(asker?.call ?? ""));
    const name = run && rootOf(run).started.goal?.goal;
    const goal = thread?.goals.get(name ?? "");
    if (goal === undefined)
      throw new BotError("NOT_AVAILABLE", "Only a run that does a task of a goal can do that.");
    return goal;
  }

  return {
    async check(asker) {
      const { report } = await goalOf(asker);
      const used = report.reduce((sum, { text }) => sum + text.length, 0);
      return { sections: report.length, left: Math.max(0, MAX_REPORT - used) };
    },
    async completed(asker) {
      const goal = await goalOf(asker);
      const headings = goal.report.map(({ heading = "(no heading)" }) => `- ${heading}`);
      const report = headings.length === 0 ? "none yet" : `\n${headings.join("\n")}`;
      return `${standing(goal)}\n\nSections of the report: ${report}`;
    },
  };
}
