import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { DELEGATE } from "../../core/tool-spec.ts";
import { defineTool } from "../tool.ts";

/** About 1,000 tokens each: a helper begins with little. */
const MAX_TEXT = 4_000;

const input = z.strictObject({
  task: z
    .string()
    .min(1)
    .max(MAX_TEXT)
    .describe("What it is to find out or do, so that somebody who knows nothing of this thread can")
    .meta({ examples: ["Find out why web-2 restarts: its logs, memory and last deployment"] }),
  context: z
    .string()
    .max(MAX_TEXT)
    .optional()
    .describe("What is known so far: names, times, results with their references such as [T3]"),
  tools: z
    .array(z.string().min(1).max(64))
    .min(1)
    .max(64)
    .optional()
    .describe("The only tools that it may call. Left out: all of yours"),
  steps: z.int().min(1).max(100).optional().describe("How many requests it may take at most"),
});

/** Has a helper do a part of the work: a run of its own, so nothing is run here. */
export const delegate = defineTool({
  name: DELEGATE,
  summary: "has a helper with an empty memory do a part of the work and report",
  description:
    "Has a helper do a part of the work, with your tools and without what you have read, and returns its report. For parts that take many calls of which only the conclusion matters, or that can be looked into side by side: call it several times in one turn. What a single call or two of a tool would tell you, call yourself. It knows only what you write here. What it wants to change goes to people on a card, as yours does. Cite the calls that it names, not its report.",
  input,
  effect: "read",
  ours: true,
  timeoutMs: 1_000,
  delegates: ({ task: text, context, tools, steps }) => ({
    text,
    ...(context !== undefined && { context }),
    ...(tools !== undefined && { tools }),
    ...(steps !== undefined && { steps }),
  }),
  async run() {
    throw new BotError(
      "NOT_AVAILABLE",
      "A helper works for a model's run; run the tools yourself.",
    );
  },
});
