import * as z from "zod";
import { GOAL_TOOLS } from "../../core/goal.ts";
import type { GoalWork } from "../integration.ts";
import { defineTool } from "../tool.ts";

/** What is done of the goal so far. */
export function createListCompleted(goals: () => GoalWork) {
  return defineTool({
    name: GOAL_TOOLS.completed,
    summary: "lists what is done so far of its goal, and what came of it",
    description:
      "Lists the tasks of this goal that are done and what came of each, and the sections that its report has. Look here before you do something again.",
    input: z.strictObject({}),
    effect: "read",
    ours: true,
    doing: () => "Looking at what is done",
    timeoutMs: 20_000,
    async run(_input, { asker }) {
      return { text: await goals().completed(asker) };
    },
  });
}
