import type { CallResult } from "../adapters/shown.ts";
import { GOAL_END_WORDS, GOAL_MARKS, type ShownGoal } from "../core/goal.ts";
import { formatUtc, isoUtc, showDuration } from "../core/instant.ts";
import { dollarText } from "../core/money.ts";
import { oneLine, shortened } from "../core/text.ts";
import { citationOf } from "../thread/entry-ids.ts";

/** The report of a goal that has ended, as a Markdown file: made of its thread's journal, so it is the same whoever writes it. */

/** Of a call's arguments, in the list of what the report rests on. */
const MAX_ARGS = 160;

const STANDINGS: Readonly<Record<ShownGoal["status"], string>> = {
  running: "at work",
  paused: "paused",
  ...GOAL_END_WORDS,
};

/** `results`: the calls of its runs. All texts are encoded. */
export function goalReport(goal: ShownGoal, results: readonly CallResult[], link?: string): string {
  const sections = goal.report.map(({ heading, text }) =>
    heading === undefined ? text.trim() : `## ${oneLine(heading)}\n\n${text.trim()}`,
  );
  const said = goal.answer?.trim() ?? "";
  const body = [...(said === "" ? [] : [said]), ...sections];
  return `${[
    `# ${oneLine(goal.text)}`,
    factsOf(goal, link),
    ...body,
    `## Tasks\n\n${tasksOf(goal)}`,
    ...evidenceOf(body.join("\n"), results),
  ].join("\n\n")}\n`;
}

/** `2026-11-28-find-out-why-checkout-is-slow-g1.md`; the same for the same goal of the same thread, and of no other. */
export function reportName({ goal, text, startedAt }: ShownGoal, thread?: string): string {
  const words = text
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  const slug = words.slice(0, 48).replace(/-+$/, "") || "goal";
  const which = thread === undefined ? goal : `${goal}-${thread}`;
  return `${isoUtc(startedAt, "day")}-${slug}-${which}.md`;
}

function factsOf(goal: ShownGoal, link: string | undefined): string {
  const { startedAt, endedAt = startedAt, status, budget, microdollars, by, schedule } = goal;
  const who = by === undefined ? (schedule === undefined ? "" : ", by schedule") : `, for ${by}`;
  const took = showDuration(Math.max(0, endedAt - startedAt));
  const { steps, minutes, tokens } = budget;
  const used = [
    `${steps.used} of ${steps.of} steps`,
    `${showDuration(Math.round(minutes.used * 60_000))} of ${showDuration(minutes.of * 60_000)}`,
    `${tokens.used.toLocaleString("en")} of ${tokens.of.toLocaleString("en")} tokens`,
    ...(microdollars === 0 ? [] : [dollarText(microdollars)]),
  ];
  return [
    `- Goal ${goal.goal}${who}: ${STANDINGS[status]} after ${took}`,
    `- From ${formatUtc(startedAt)} to ${formatUtc(endedAt)}`,
    `- Used ${used.join(", ")}`,
    ...(link === undefined ? [] : [`- Thread: ${link}`]),
  ].join("\n");
}

function tasksOf({ tasks }: ShownGoal): string {
  if (tasks.length === 0) return "None was planned.";
  return tasks
    .map(({ text, status, depth, reason }) => {
      const why = status === "done" || reason === undefined ? "" : ` – ${oneLine(reason)}`;
      return `${"  ".repeat(depth)}- ${GOAL_MARKS[status]} ${oneLine(text)}${why}`;
    })
    .join("\n");
}

/** Each call that the text cites, in the order of their numbers. */
function evidenceOf(text: string, results: readonly CallResult[]): string[] {
  const cited = new Set(Array.from(text.matchAll(/\bT(\d{1,9})\b/g), ([name]) => name));
  const lines = results.flatMap(({ call, tool, args, doing, outcome }) => {
    const name = citationOf(call);
    if (!cited.has(name)) return [];
    const what = doing ?? `${tool} ${shortened(JSON.stringify(args), MAX_ARGS)}`;
    return [`- [${name}] ${oneLine(what)}${outcome === "ok" ? "" : `: ${outcome}`}`];
  });
  return lines.length === 0 ? [] : [`## Evidence\n\n${lines.join("\n")}`];
}
