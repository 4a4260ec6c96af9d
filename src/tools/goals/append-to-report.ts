import * as z from "zod";
import { GOAL_TOOLS } from "../../core/goal.ts";
import type { GoalWork } from "../integration.ts";
import { defineTool } from "../tool.ts";

const input = z.strictObject({
  heading: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .optional()
    .describe("The section's heading")
    .meta({ examples: ["Slow queries"] }),
  text: z
    .string()
    .trim()
    .min(1)
    .max(20_000)
    .describe(
      "The section in Markdown; each claim about the systems with its reference such as [T3]",
    )
    .meta({ examples: ["Checkout waits for orders_by_day, 4 s at the median [T3]."] }),
});

/** Adds a section to the goal's report. The report is made of these calls, so the same call is never added twice. */
export function createAppendToReport(goals: () => GoalWork) {
  return defineTool({
    name: GOAL_TOOLS.report,
    summary: "adds a section to the report of its goal",
    description:
      "Adds a section to the report of this goal, which people get as a file at its end. Sections stand in the order in which they were added and cannot be changed: add one when its findings are final.",
    input,
    effect: "read",
    ours: true,
    doing: ({ heading }) => (heading === undefined ? "Writing the report" : `Writing: ${heading}`),
    timeoutMs: 20_000,
    async run({ text }, { asker }) {
      const { sections, left } = await goals().check(asker);
      if (text.length > left) {
        const room = left.toLocaleString("en");
        return {
          text: `The report has room for ${room} characters more. Say it shorter.`,
          failed: true,
        };
      }
      return { text: `Added as section ${sections + 1} of the report.` };
    },
  });
}
