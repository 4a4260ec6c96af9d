import type { Budget } from "../../core/budget.ts";
import type { GoalPause } from "../../core/goal.ts";
import { counted, shortened } from "../../core/text.ts";
import type { Goal, GoalTask } from "./state.ts";

/** What people and models read of goals. */

/** Why a verdict is another than the model's, or was given without it. */
export const verdicts = {
  noCall: "No call that was made shows it.",
  notCalled: (tools: readonly string[]) =>
    `Not done before ${tools.join(", ")} was called and went well.`,
  stopped: "It was stopped.",
  failed: (why: string) => `Its run failed: ${why}`,
  unjudged: (why: string) => `It could not be judged: ${why}`,
  noParts: "It was split into tasks that are known already.",
  tooDeep: (reason: string) =>
    `It is a part of a part of a part and is split no further. ${reason}`,
  tooOften: (tries: number, reason: string) => `Tried ${counted(tries, "time")}. ${reason}`,
} as const;

/** A task that the program plans itself, so that what the goal asks for is made. */
export function deliverText(tool: string): string {
  return `Make what the goal asks for with ${tool}, from what the notes say.`;
}

export const planProblems = {
  unmet: (tools: readonly string[]) =>
    `The plan says done, but ${tools.join(", ")} was not called.`,
} as const;

/** Who stopped it, where nobody can say. */
export const REMOVAL = "the removal of its message";

export const ONLY_TALK = "In this channel the model only talks (agent.chatOnly).";
export const GOALS_OFF = "Goals are off here, or no model is configured.";

/** What the run of a task is told below it. */
export const taskWords = {
  again: (reason: string) =>
    `It was tried before and was not done: ${reason}\nDo not repeat what the notes say was done.`,
  needs: (tools: readonly string[]) => `It is not done before you called ${tools.join(", ")}.`,
} as const;

const USED_UP: Readonly<Record<keyof Budget, (budget: Budget) => string>> = {
  steps: ({ steps }) => `The ${counted(steps, "step")} of its budget are used up.`,
  minutes: ({ minutes }) =>
    `The ${counted(Math.round(minutes), "minute")} of its budget are used up.`,
  tokens: ({ tokens }) => `The ${tokens.toLocaleString("en")} tokens of its budget are used up.`,
  cents: ({ cents = 0 }) => `The $${(cents / 100).toFixed(2)} of its budget are used up.`,
};

export const pauses = {
  budget: (goal: Goal, what: keyof Budget) => `${USED_UP[what](goal.budget)}\n\n${standing(goal)}`,
  trouble: (why: string) => `It can't go on now: ${why}`,
} as const;

/** A line of its own: the message that shows the goal stands far above by then, and nobody is told of its edits. */
export function pausedItself(goal: Goal, why: GoalPause, text: string): string {
  const { goal: name } = goal.started;
  const next =
    why === "budget"
      ? "Extend in its message, or `goal extend`, lets it use more and go on."
      : "`goal resume` has it try again.";
  const [said = ""] = text.split("\n");
  return `${name} is paused. ${said}${/[.!?]$/.test(said) ? "" : "."} ${next}`;
}

export const ends = {
  stopped: (by: string, goal: Goal) => `Stopped by ${by}.\n\n${standing(goal)}`,
  empty: (goal: Goal) => `Nothing more was planned.\n\n${standing(goal)}`,
  barren: (tasks: number, goal: Goal) =>
    `The last ${counted(tasks, "task")} brought nothing new, so it ends here.\n\n${standing(goal)}`,
} as const;

const MAX_SHOWN = 200;
const MAX_LISTED = 30;

/** What is done and what is not, with what came of it. */
export function standing(goal: Goal): string {
  const all = [...goal.tasks.values()].filter(({ status }) => status !== "split");
  const done = all.filter(({ status }) => status === "done");
  const given = all.filter(({ status }) => status === "abandoned" || status === "failed");
  const left = all.filter(({ status }) => status === "pending" || status === "running");
  const parts = [
    list("Done", done, (task) => answerOf(goal, task)),
    list("Not done", given, ({ reason }) => reason),
    list("Left", left, () => undefined),
  ];
  return parts.filter((part) => part !== "").join("\n\n") || "No task was done.";
}

/** What its newest run answered, in a line. */
export function answerOf({ notes }: Pick<Goal, "notes">, { task }: GoalTask): string | undefined {
  return notes.findLast((note) => note.kind === "answer" && note.task === task)?.text;
}

function list(
  head: string,
  tasks: readonly GoalTask[],
  more: (task: GoalTask) => string | undefined,
): string {
  if (tasks.length === 0) return "";
  const lines = tasks.slice(-MAX_LISTED).map((task) => {
    const said = more(task);
    return `- ${shortened(task.text, MAX_SHOWN)}${said === undefined ? "" : `: ${shortened(said, MAX_SHOWN)}`}`;
  });
  return [`${head}:`, ...lines].join("\n");
}
