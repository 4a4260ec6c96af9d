import * as z from "zod";

/** A model's plan of its own work, as people see it and as it is told back. */

/** How a plan can be made before a run's first turn; stores keep these by their places. */
export const PLANNING = ["plan_and_solve", "tree_of_thoughts", "self_consistency"] as const;

export type Planning = (typeof PLANNING)[number];

const text = z.string();

/** A step of a plan. `criterion`: what shows that it is done. */
export const planTask = z.strictObject({
  /** Of no other step of the plan, such as `2` or `2.1`. */
  id: text,
  content: text,
  status: z.enum(["pending", "in_progress", "completed"]),
  criterion: text.optional(),
  /** The step that it is a part of; it stands before it. */
  parent: text.optional(),
});

export type PlanTask = z.infer<typeof planTask>;

/** A run's plan as it stands. */
export interface Plan {
  /** None: it was found to need no plan. */
  readonly tasks: readonly PlanTask[];
  /** How often it was written down, from 1. */
  readonly revision: number;
  /** The entry of its newest revision. */
  readonly seq: number;
}

/** How deep a step stands below others: 0 for one of the plan's own. */
export function depthIn(tasks: readonly PlanTask[], { parent }: PlanTask): number {
  const above = parent === undefined ? undefined : tasks.find(({ id }) => id === parent);
  return above === undefined ? 0 : 1 + depthIn(tasks, above);
}

/** A step as people see it. */
export interface PlannedTask {
  text: string;
  status: PlanTask["status"];
  depth: number;
}

/** `encode`: takes out what people must not see of a model's words. */
export function plannedTasks(
  tasks: readonly PlanTask[],
  encode: (text: string) => string,
): PlannedTask[] {
  return tasks.map((task) => {
    const { content, status } = task;
    return { text: encode(content), status, depth: depthIn(tasks, task) };
  });
}

export const PLAN_MARKS: Readonly<Record<PlanTask["status"], string>> = {
  pending: "[ ]",
  in_progress: "[>]",
  completed: "[x]",
};

/** The plan as lines of text: `[x] 1. Read the logs (done when: an error is found)`. */
export function planText(tasks: readonly PlanTask[]): string {
  const lines = tasks.map((task) => {
    const { id, content, status, criterion } = task;
    const when = criterion === undefined ? "" : ` (done when: ${criterion})`;
    return `${"  ".repeat(depthIn(tasks, task))}${PLAN_MARKS[status]} ${id}. ${content}${when}`;
  });
  return lines.join("\n");
}
