import { GOAL_PROMPTS } from "../../agent/goal-prompt.ts";
import {
  type GoalQuestion,
  planQuestion,
  type PlanValue,
  verdictQuestion,
} from "../../agent/goal-thinking.ts";
import { addUsage, estimateTokens, NO_USAGE } from "../../core/block.ts";
import { BotError, messageOf } from "../../core/errors.ts";
import type { GoalThought } from "../../core/goal-appends.ts";
import type { RunTerms } from "../../core/run-terms.ts";
import { callStructured } from "../../models/structured.ts";
import { leftOf } from "../../thread/goals/goal.ts";
import { GOALS_OFF } from "../../thread/goals/phrases.ts";
import type { Goal } from "../../thread/goals/state.ts";
import { termsFor } from "../../thread/modes.ts";
import { putOff } from "../background.ts";
import { conclude } from "./conclude.ts";
import type { Learn, ThreadContext } from "./parts.ts";
import { isLookUpFailure } from "./permission/look-up.ts";
import { type Counted, payingModel } from "./paying-model.ts";

/**
 * A goal's planner and judge: one question to the model each, paid from the goal's budget and the day's. What was used is written down
 * whatever came of it; without an answer that has the form it is asked again, so often as the goal's rules say.
 */

export const planGoal: Learn<"planGoal"> = async (ctx, step, signal) => {
  const { goal, key } = step;
  const seen = ctx.thread.last;
  const asked = await think(ctx, { goal, system: "plan" }, signal, (tools, left) =>
    planQuestion(goal, { tools, left }),
  );
  return async () => {
    if (signal.aborted) return;
    if ("later" in asked) return putOff(ctx, key, asked.later);
    const { thought } = asked;
    const paid = thought && { thought };
    if ("why" in asked) return conclude(ctx, { ...step, facts: { why: asked.why, ...paid } });
    const { done, answer, deliverables, tasks } = cleaned(ctx, asked.value, asked.tools);
    const facts = { seen, tasks, done, answer, deliverables, ...paid };
    return conclude(ctx, { ...step, facts });
  };
};

export const judgeTask: Learn<"judgeTask"> = async (ctx, step, signal) => {
  const { goal, task, work, key } = step;
  const asked = await think(ctx, { goal, system: "judge" }, signal, () =>
    verdictQuestion(goal, task, work),
  );
  return async () => {
    if (signal.aborted) return;
    if ("later" in asked) return putOff(ctx, key, asked.later);
    const { thought } = asked;
    const paid = thought && { thought };
    if ("why" in asked) return conclude(ctx, { ...step, facts: { why: asked.why, ...paid } });
    const { verdict, reason, tasks } = asked.value;
    const { hide } = ctx.parts.encoder;
    const parts = tasks.map((part) => known({ ...part, text: hide(part.text) }, asked.tools));
    const said = { verdict, reason: hide(reason), parts };
    return conclude(ctx, { ...step, facts: { said, ...paid } });
  };
};

/** Without secrets, and without tools that there are not. */
function cleaned(
  { parts: { encoder } }: ThreadContext,
  value: PlanValue,
  tools: readonly string[],
) {
  const { done, answer, deliverables, tasks } = value;
  return {
    done,
    answer: encoder.hide(answer.trim()),
    deliverables: deliverables.filter((tool) => tools.includes(tool)),
    tasks: tasks.map((task) => known({ ...task, text: encoder.hide(task.text) }, tools)),
  };
}

function known<T extends { requires: readonly string[] }>(task: T, tools: readonly string[]): T {
  return { ...task, requires: task.requires.filter((tool) => tools.includes(tool)) };
}

type Thought<T> =
  /** Nobody can say now who asks. */
  | { later: BotError }
  | { why: string; thought: GoalThought | undefined }
  | { value: T; thought: GoalThought | undefined; tools: readonly string[] };

async function think<T>(
  ctx: ThreadContext,
  { goal, system: what }: { goal: Goal; system: "plan" | "judge" },
  signal: AbortSignal,
  questionFor: (tools: readonly string[], left: ReturnType<typeof leftOf>) => GoalQuestion<T>,
): Promise<Thought<T>> {
  const { parts } = ctx;
  const { goal: name, model: chosen, principals } = goal.started;
  const own = parts.run.model ?? chosen;
  const began = performance.now();
  let usage = NO_USAGE;
  let requests = 0;
  let paid: number | undefined;
  let answerer = own;
  const counted: Counted = (used, cost, model) => {
    usage = addUsage(usage, used);
    if (cost.microdollars !== undefined) paid = (paid ?? 0) + cost.microdollars;
    requests += 1;
    answerer = model;
  };
  const thought = (): GoalThought | undefined => {
    const ms = Math.round(performance.now() - began);
    const cost = paid === undefined ? {} : { microdollars: paid };
    return requests === 0 ? undefined : { model: answerer, requests, usage, ms, ...cost };
  };
  try {
    const terms = termsOfGoal(ctx);
    const left = leftOf(goal, ctx.now());
    const tools = [...terms.tools.map((tool) => tool.name), ...(terms.foundTools ?? [])];
    const { name: form, content, schema } = questionFor(tools, left);
    const system = GOAL_PROMPTS[what];
    const turns = [{ role: "user" as const, content }];
    const requestTokens = estimateTokens(JSON.stringify({ system, turns }));
    const spend = {
      run: `${name} ${what}`,
      model: own,
      steps: 0,
      requestTokens,
      askers: principals,
      signal,
    };
    const minutes = Math.min(terms.budget.minutes, left.minutes);
    const limits = { budget: { minutes }, workMs: 0 };
    const model = payingModel(ctx, { limits, terms, spend }, counted);
    const { maxOutputTokens } = terms;
    const asked = { system, turns, schema, name: form, maxOutputTokens };
    const { value } = await callStructured(model, asked, { signal });
    return { value, thought: thought(), tools };
  } catch (error) {
    if (isLookUpFailure(error)) return { later: error };
    const why = parts.encoder.encode(messageOf(error));
    if (!signal.aborted) ctx.log.warn({ why, key: ctx.key, goal: name }, `no answer (${what})`);
    return { why, thought: thought() };
  }
}

/** @throws BotError NOT_AVAILABLE where goals were turned off since it began */
function termsOfGoal({ parts }: ThreadContext): RunTerms {
  const { terms: main } = parts.run;
  const terms = main && termsFor(main, { kind: "goal" });
  if (terms === undefined) throw new BotError("NOT_AVAILABLE", GOALS_OFF);
  return terms;
}
