import type { Draft, Entry } from "../core/entry.ts";
import type { PlanTask } from "../core/plan.ts";
import { entryId } from "./entry-ids.ts";
import type { ModelRun } from "./model-run.ts";

export function applyPlan(modelRun: ModelRun, { tasks, thought, seq }: Entry<"plan">): void {
  if (thought !== undefined) modelRun.workMs += thought.ms;
  modelRun.plan = { tasks, revision: (modelRun.plan?.revision ?? 0) + 1, seq };
}

export function planDraft(
  run: string,
  { plan }: Pick<ModelRun, "plan">,
  tasks: readonly PlanTask[],
): Draft<"plan"> {
  const id = entryId.plan(run, (plan?.revision ?? 0) + 1);
  return { id, kind: "plan", run, tasks: [...tasks] };
}
