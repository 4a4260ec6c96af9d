import * as z from "zod";
import { depthIn, planTask, type PlanTask } from "../../core/plan.ts";
import { UPDATE_PLAN } from "../../core/tool-spec.ts";
import { type Gate, refuse } from "./gate.ts";

const MAX_TASKS = 50;
const MAX_CHARS = 300;
const MAX_DEPTH = 3;
/** So many steps side by side are no longer seen at a glance. */
const MAX_FLAT = 10;

const words = z.string().trim().min(1).max(MAX_CHARS);
const given = z.strictObject({
  tasks: z
    .array(
      planTask.extend({
        id: words.max(20).optional(),
        content: words,
        criterion: words.optional(),
        parent: words.max(20).optional(),
      }),
    )
    .min(1)
    .max(MAX_TASKS),
});

/** Keeps a model's plan: nothing is executed, nobody is asked, and each revision stands in the journal. */
export const plan: Gate = {
  name: "plan",
  about:
    "answers `update_plan`: keeps the plan if it is one, and says what is wrong with it if not",
  beforeCall({ call: { tool, args } }) {
    if (tool !== UPDATE_PLAN) return undefined;
    const { data, error } = given.safeParse(args);
    if (error !== undefined) return refuse(`The plan was not kept. ${z.prettifyError(error)}`);
    const tasks = data.tasks.map((task, i) => ({ ...task, id: task.id ?? `${i + 1}` }));
    const problems = problemsOf(tasks);
    if (problems.length > 0) return refuse(`The plan was not kept. ${problems.join(" ")}`);
    return { do: "answer", text: keptText(tasks), keeps: { plan: tasks } };
  },
};

function problemsOf(tasks: readonly PlanTask[]): string[] {
  const ids = tasks.map(({ id }) => id);
  const twice = ids.filter((id, i) => ids.indexOf(id) !== i);
  if (twice.length > 0) return [`Several steps have the id ${[...new Set(twice)].join(", ")}.`];
  const lost = tasks.filter(
    ({ parent }, i) => parent !== undefined && !ids.slice(0, i).includes(parent),
  );
  if (lost.length > 0)
    return lost.map(({ id, parent }) => `Step ${id}: no step ${parent} stands before it.`);
  const deep = tasks.filter((task) => depthIn(tasks, task) >= MAX_DEPTH);
  const doing = leavesOf(tasks).filter(({ status }) => status === "in_progress");
  return [
    ...deep.map(({ id }) => `Step ${id} stands more than ${MAX_DEPTH - 1} steps deep.`),
    ...(doing.length > 1
      ? [
          `Only one step may be in progress, not ${doing.map(({ id }) => id).join(", ")}: the others are pending or completed.`,
        ]
      : []),
  ];
}

/** The steps that have no parts. */
export function leavesOf(tasks: readonly PlanTask[]): PlanTask[] {
  const parents = new Set(tasks.map(({ parent }) => parent));
  return tasks.filter(({ id }) => !parents.has(id));
}

function keptText(tasks: readonly PlanTask[]): string {
  const steps = leavesOf(tasks);
  const done = steps.filter(({ status }) => status === "completed").length;
  const next = steps.find(({ status }) => status !== "completed");
  const isFlat = tasks.length >= MAX_FLAT && tasks.every(({ parent }) => parent === undefined);
  return [
    `Kept: ${done} of ${steps.length} steps done.`,
    ...(next === undefined ? [] : [`Next: ${next.id}. ${next.content}`]),
    ...(isFlat
      ? ["Put parts below a step next time (parent): so many are not seen at a glance."]
      : []),
  ].join(" ");
}
