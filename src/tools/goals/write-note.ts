import * as z from "zod";
import { GOAL_TOOLS } from "../../core/goal.ts";
import type { GoalWork } from "../integration.ts";
import { defineTool } from "../tool.ts";

const input = z.strictObject({
  text: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .describe("One finding in a line or two, with its reference such as [T3]; never a whole page")
    .meta({ examples: ["web-2 restarts since 09:10, out of memory [T3]"] }),
});

/** Keeps a line for later tasks of the goal: the call itself is what is kept. */
export function createWriteNote(goals: () => GoalWork) {
  return defineTool({
    name: GOAL_TOOLS.note,
    summary: "keeps a finding for later tasks of the same goal",
    description:
      "Keeps one finding for later tasks of this goal: they begin with the notes that fit them. What your answer says is kept anyway.",
    input,
    effect: "read",
    ours: true,
    doing: () => "Taking a note",
    timeoutMs: 20_000,
    async run(_input, { asker }) {
      await goals().check(asker);
      return { text: "Noted." };
    },
  });
}
