import * as z from "zod";
import { BotError } from "../../core/errors.ts";
import { formatUtc } from "../../core/instant.ts";
import { counted, oneLine } from "../../core/text.ts";
import { viewerOf } from "../../core/viewer.ts";
import type { Feedback } from "../../team/feedback.ts";
import { defineTool } from "../tool.ts";

const WEEK_MS = 7 * 86_400_000;
/** Of the newest words; all are counted. */
const MAX_LISTED = 10;

/** Counts what people said of answers, and shows the newest words with their threads. */
export function createFeedbackList(feedback: () => Feedback) {
  return defineTool({
    name: "feedback_list",
    summary: "counts how often answers helped, and shows the newest feedback with its threads",
    description:
      "Counts what people said of this program's answers, helpful or not, and shows the newest feedback with reasons and threads. Use its numbers as they are.",
    input: z.strictObject({}),
    effect: "read",
    doing: () => "Counting what people said of answers",
    answeredBy: { kind: "text" },
    timeoutMs: 15_000,
    async run(_, { asker }) {
      if (asker === undefined)
        throw new BotError(
          "NOT_AVAILABLE",
          "Feedback can be looked at only while the tool is run.",
        );
      const words = await feedback().list(await viewerOf(asker));
      return { text: feedbackText(words, asker.startedAt) };
    },
  });
}

type Words = Awaited<ReturnType<Feedback["list"]>>;

function feedbackText(words: Words, now: number): string {
  if (words.length === 0) return "Nobody has rated an answer yet.";
  const answers = new Set(words.map(({ thread, run }) => `${thread}\n${run}`)).size;
  const people = new Set(words.map(({ actor }) => actor.account)).size;
  const recent = words.filter(({ at }) => at >= now - WEEK_MS);
  const hidden = words.filter(({ readable }) => !readable).length;
  const shown = words.filter(({ readable }) => readable).slice(0, MAX_LISTED);
  return [
    `${tally(words)}, on ${counted(answers, "answer")} by ${people === 1 ? "1 person" : `${people} people`}. Last 7 days: ${tally(recent)}.`,
    ...shown.map(lineOf),
    ...(hidden > 0 ? [`${hidden} of them in places that aren't shown here.`] : []),
  ].join("\n");
}

/** `31 helpful, 4 not` */
function tally(words: Words): string {
  const helpful = words.filter((word) => word.helpful).length;
  return `${helpful} helpful, ${words.length - helpful} not`;
}

function lineOf({ at, actor, helpful, reason, link }: Words[number]): string {
  const why = reason === undefined ? "" : `: ${JSON.stringify(oneLine(reason))}`;
  const where = link === undefined ? "" : ` ${link}`;
  return `- ${formatUtc(at)} ${actor.name}, ${helpful ? "helpful" : "not helpful"}${why}${where}`;
}
