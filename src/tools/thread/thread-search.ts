import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { createClock } from "../../core/instant.ts";
import { counted } from "../../core/text.ts";
import type { FoundThread, PastThreads } from "../integration.ts";
import { defineTool } from "../tool.ts";

const input = z.strictObject({
  text: z.string().regex(/\S/, "is empty").max(200).describe("Words that all occur in the thread"),
  limit: z.int().min(1).max(20).default(10).describe("How many to show at the most"),
});

/** Finds earlier threads. What people and systems wrote there is text from outside to whoever reads it here. */
export function createThreadSearch(past: () => PastThreads) {
  return defineTool({
    name: "thread_search",
    summary: "finds earlier threads by words, with their answers and links",
    description:
      "Finds earlier threads of this program by words: what was asked and the newest answer, with links. Only those that everybody in this thread may read, of the last 90 days. For incidents use incident_search.",
    input,
    effect: "read",
    answeredBy: { kind: "text" },
    timeoutMs: 30_000,
    doing: ({ text }) => `Searching earlier threads for ${text}`,
    async run({ text, limit }, { asker }) {
      if (asker === undefined)
        throw new BotError("NOT_AVAILABLE", "Threads can be searched only while the tool is run.");
      const found = await past().search(text, asker, limit);
      const zone = await asker.timezone();
      const lines = found.flatMap((each) => ["", ...linesOf(each, zone)]);
      const head = `${counted(found.length, "thread")} with ${JSON.stringify(text.trim())}, times in ${zone}:`;
      if (found.length > 0) return { text: [head, ...lines].join("\n") };
      return {
        text: `No earlier thread that can be shown here has ${JSON.stringify(text.trim())}.`,
      };
    },
  });
}

function linesOf({ where, at, by, question, answer }: FoundThread, zone: string): string[] {
  const asked = `${createClock(zone).dateTime(at)}  ${by}: ${question}`;
  return [asked, ...(answer === undefined ? [] : [`  answer: ${answer}`]), `  ${where}`];
}
