import { GOAL_MARKS, type ShownGoal, type UsedOf } from "../core/goal.ts";
import { formatUtc, showDuration } from "../core/instant.ts";
import { dollarText, microdollarsOfCents } from "../core/money.ts";
import { counted, oneLine } from "../core/text.ts";
import { goalAtWork, newestGoal, shownGoal } from "../thread/goals/goal.ts";
import { goalAnswers } from "../thread/goals/click-phrases.ts";
import type { Thread } from "../thread/state.ts";

/** How the thread's goal stands, as of its newest entry: the one at work, else the newest. */
export function goalStatusText(thread: Thread): string {
  const goal = newestGoal(thread);
  if (goal === undefined) return goalAnswers.none;
  const shown = shownGoal(thread, goal, goal.used.since ?? goal.started.at);
  const { text, why, tasks, startedAt, endedAt, waits } = shown;
  const ended = endedAt === undefined ? "" : ` after ${showDuration(endedAt - startedAt)}`;
  // What is done and what is left stands below, task by task.
  const [said] = why?.split("\n") ?? [];
  return [
    `${shown.goal} · ${standingOf(shown)}${ended} · since ${formatUtc(startedAt)}`,
    oneLine(text),
    ...(said === undefined || waits ? [] : [said]),
    `Used: ${usedText(shown)}`,
    ...tasks.map((task) => {
      const reason = task.status === "done" || task.reason === undefined ? "" : ` – ${task.reason}`;
      return `${"  ".repeat(task.depth)}${GOAL_MARKS[task.status]} ${oneLine(task.text)}${oneLine(reason)}`;
    }),
  ].join("\n");
}

/** For a thread's status: the goal at work in a line, if there is one. */
export function goalLines(thread: Thread): string[] {
  const goal = goalAtWork(thread);
  if (goal === undefined) return [];
  const shown = shownGoal(thread, goal, goal.used.since ?? goal.started.at);
  const tasks = shown.tasks.filter(({ status }) => status !== "split");
  const done = tasks.filter(({ status }) => status === "done").length;
  const far = tasks.length === 0 ? "" : `, ${done} of ${counted(tasks.length, "task")} done`;
  return [`Goal: ${shown.goal} ${standingOf(shown)}${far}; goal status says more`];
}

function standingOf({ waits, status }: ShownGoal): string {
  if (waits) return "waits for your decision on a card";
  return WORDS[status] ?? status;
}

const WORDS: Readonly<Partial<Record<ShownGoal["status"], string>>> = {
  running: "at work",
  partly: "ended, not all of it done",
};

function usedText({ budget, microdollars }: ShownGoal): string {
  const { steps, minutes, tokens, cents } = budget;
  const share = ({ used, of }: UsedOf, words: (count: number) => string) =>
    `${words(used)} of ${words(of)}`;
  const whole = (count: number) => Math.round(count).toLocaleString("en");
  const money = (count: number) => dollarText(microdollarsOfCents(count));
  const cost = cents === undefined ? undefined : share(cents, money);
  return [
    `${share(steps, whole)} steps`,
    share(minutes, (count) => showDuration(Math.round(count * 60_000))),
    `${share(tokens, whole)} tokens`,
    ...(cost === undefined ? (microdollars === 0 ? [] : [dollarText(microdollars)]) : [cost]),
  ].join(", ");
}
