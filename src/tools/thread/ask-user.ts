import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { ASK_USER } from "../../core/tool-spec.ts";
import { defineTool } from "../tool.ts";

const input = z.strictObject({
  question: z
    .string()
    .min(1)
    .max(500)
    .describe("One question, with what people need to know to answer it")
    .meta({ examples: ["Which cluster do you mean?"] }),
  choices: z
    .array(z.string().min(1).max(80))
    .max(6)
    .default([])
    .describe("Answers to choose from, shown as buttons; none: they write one"),
});

/** Asks the people of the thread what only they can know. It is answered by them, never run. */
export const askUser = defineTool({
  name: ASK_USER,
  summary: "asks the people in the thread a question and waits for the answer",
  description:
    "Asks the people of this thread one question and waits for the answer. For what no tool can find out and the work cannot go on without; never for an approval: what needs one asks by itself.",
  input,
  effect: "read",
  ours: true,
  timeoutMs: 1_000,
  question: ({ question, choices }) => ({ text: question, choices }),
  async run() {
    throw new BotError(
      "NOT_AVAILABLE",
      "A question is answered by people; there is nothing to run.",
    );
  },
});
