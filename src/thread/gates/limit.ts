import { totalTokens } from "../../core/block.ts";
import type { ModelRun } from "../model-run.ts";
import type { Gate } from "./gate.ts";

/** Keeps a run within its steps, tokens and minutes: the last of them is for the answer. */
export const limit: Gate = {
  name: "limit",
  about: "has the model answer when `budgets` leave one request more",
  afterCalls(_run, modelRun) {
    const reached = limitReached(modelRun);
    if (reached === undefined) return undefined;
    const text = `This run has reached its limit (${reached}). Answer now with what you found and what is still open; people can tell you to go on.`;
    return { text, toolsOff: true };
  },
};

/** Which of its limits a run has reached, in words; undefined: none. */
export function limitReached({ terms, steps, usage, workMs, last }: ModelRun): string | undefined {
  const { budget } = terms;
  if (steps >= budget.steps - 1) return `${budget.steps} steps`;
  const next = last === undefined ? 0 : totalTokens(last.usage);
  if (totalTokens(usage) + 2 * next > budget.tokens) return `${budget.tokens} tokens`;
  if (workMs >= budget.minutes * 60_000) return `${budget.minutes} minutes of work`;
  return undefined;
}

/** What is left of its limits is enough for one answer more. */
export function mayAnswerAgain({ terms: { budget }, steps, usage, workMs, last }: ModelRun) {
  const next = last === undefined ? 0 : totalTokens(last.usage);
  return (
    steps < budget.steps &&
    totalTokens(usage) + next <= budget.tokens &&
    workMs < budget.minutes * 60_000
  );
}
