import { countedTokens, totalTokens } from "../../core/block.ts";
import { dollarText, microdollarsOfCents } from "../../core/money.ts";
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
export function limitReached(modelRun: ModelRun): string | undefined {
  const { budget, steps, usage, money, workMs, last } = modelRun;
  if (steps >= budget.steps - 1) return `${budget.steps} steps`;
  const next = last === undefined ? 0 : countedTokens(last.usage);
  if (countedTokens(usage) + next + answerTokens(modelRun) > budget.tokens)
    return `${budget.tokens} tokens`;
  const cost = last?.microdollars ?? 0;
  if (
    budget.cents !== undefined &&
    money.microdollars + 2 * cost > microdollarsOfCents(budget.cents)
  )
    return dollarText(microdollarsOfCents(budget.cents));
  if (workMs >= budget.minutes * 60_000) return `${budget.minutes} minutes of work`;
  return undefined;
}

/** How near the run is to the nearest of its limits; at 1 it has reached it. */
export function nearness(modelRun: ModelRun): number {
  const { budget, steps, usage, money, workMs, last } = modelRun;
  const next = last === undefined ? 0 : countedTokens(last.usage);
  const cost = last?.microdollars ?? 0;
  return Math.max(
    steps / Math.max(1, budget.steps - 1),
    (countedTokens(usage) + next + answerTokens(modelRun)) / budget.tokens,
    budget.cents === undefined
      ? 0
      : (money.microdollars + 2 * cost) / microdollarsOfCents(budget.cents),
    workMs / (budget.minutes * 60_000),
  );
}

/** What is left of its limits is enough for one answer more. */
export function mayAnswerAgain(modelRun: ModelRun): boolean {
  const { budget, steps, usage, money, workMs, last } = modelRun;
  const cost = last?.microdollars ?? 0;
  return (
    steps < budget.steps &&
    countedTokens(usage) + answerTokens(modelRun) <= budget.tokens &&
    (budget.cents === undefined ||
      money.microdollars + cost <= microdollarsOfCents(budget.cents)) &&
    workMs < budget.minutes * 60_000
  );
}

/** What the answer may take, counted in full: after a person's pause the provider's cache may be gone. */
function answerTokens({ last }: ModelRun): number {
  return last === undefined ? 0 : totalTokens(last.usage);
}
