import type { Draft, Entry } from "../core/entry.ts";
import type { Planning, PlanTask } from "../core/plan.ts";
import { entryId } from "./entry-ids.ts";
import { isReader, type Run } from "./state.ts";
import type { ModelRun } from "./model-run.ts";

export function applyPlan(modelRun: ModelRun, { tasks, thought, seq }: Entry<"plan">): void {
  if (thought !== undefined) modelRun.workMs += thought.ms;
  modelRun.plan = { tasks, revision: (modelRun.plan?.revision ?? 0) + 1, seq };
}

/** Fewer requests are no work for a plan. */
const MIN_STEPS = 3;

/** How a plan is to be made before the model is asked; undefined: none is, or one was. What may stay silent or only reads needs none. */
export function strategyFor(run: Run, { terms, plan, last }: ModelRun): Planning | undefined {
  const isBegun = plan !== undefined || last !== undefined;
  if (isBegun || terms.unsure === true || isReader(run) || terms.budget.steps < MIN_STEPS)
    return undefined;
  return terms.gates?.strategy;
}

/** What was planned before the run's first turn. */
export type PlanFacts = Required<Pick<Draft<"plan">, "tasks" | "thought">>;

export function planDraft(
  run: string,
  { plan }: Pick<ModelRun, "plan">,
  { tasks, thought }: { tasks: readonly PlanTask[]; thought?: PlanFacts["thought"] | undefined },
): Draft<"plan"> {
  const id = entryId.plan(run, (plan?.revision ?? 0) + 1);
  return { id, kind: "plan", run, tasks: [...tasks], ...(thought && { thought }) };
}
