import { requestOf } from "../../agent/request.ts";
import { type AskForPlan, planWith } from "../../agent/planning.ts";
import { addUsage, NO_USAGE } from "../../core/block.ts";
import { messageOf } from "../../core/errors.ts";
import { plannedTasks, type PlanTask } from "../../core/plan.ts";
import { callStructured } from "../../models/structured.ts";
import type { PlanFacts } from "../../thread/plan.ts";
import { sharesOf } from "../../thread/routing.ts";
import type { StepOf } from "../../thread/steps.ts";
import { termsIn } from "../../thread/surroundings.ts";
import { putOff } from "../background.ts";
import { tokensOf } from "./budget.ts";
import { conclude } from "./conclude.ts";
import { withFiles } from "./model-call.ts";
import { type Counted, payingModel } from "./paying-model.ts";
import type { Learn, ThreadContext } from "./parts.ts";
import { isLookUpFailure } from "./permission/look-up.ts";
import { tellingFor } from "./permission/requesters.ts";
import { progress } from "./progress.ts";

/**
 * Plans a run before its first turn, as its terms say. Whatever goes wrong, the run goes on without a plan; what was used is
 * counted all the same.
 */
export const planFirst: Learn<"plan"> = async (ctx, step, signal) => {
  const { key } = step;
  const facts = await learn(ctx, step, signal).catch((error: unknown) => error);
  return async () => {
    if (isLookUpFailure(facts)) putOff(ctx, key, facts);
    else if (!signal.aborted && isFacts(facts)) await conclude(ctx, { ...step, facts });
  };
};

function hidden({ content, criterion, ...task }: PlanTask, hide: (text: string) => string) {
  const by = criterion === undefined ? {} : { criterion: hide(criterion) };
  return { ...task, content: hide(content), ...by };
}

function isFacts(facts: unknown): facts is PlanFacts {
  return typeof facts === "object" && facts !== null && "tasks" in facts;
}

async function learn(
  ctx: ThreadContext,
  { run, modelRun, strategy }: StepOf<"plan">,
  signal: AbortSignal,
): Promise<PlanFacts> {
  const { parts } = ctx;
  const name = run.started.run;
  const terms = termsIn(parts.run, run);
  const began = performance.now();
  let usage = NO_USAGE;
  let requests = 0;
  let paid: number | undefined;
  const thought = () => ({
    strategy,
    requests,
    usage,
    ms: Math.round(performance.now() - began),
    ...(paid !== undefined && { microdollars: paid }),
  });
  // The next request says what is wrong then.
  if (terms?.prefix !== modelRun.terms.prefix) return { tasks: [], thought: thought() };
  progress(ctx, name, { kind: "thinking", run: name, step: 1 });
  const telling = await tellingFor(ctx, run, modelRun, signal);
  const shares = sharesOf(ctx.thread, { started: run.started, modelRun });
  const asked = requestOf(ctx.state.transcript, { run: name, modelRun }, terms, {
    ...telling,
    ...shares,
  });
  const turns = await withFiles(ctx, asked);
  const requestTokens = tokensOf(modelRun, asked);
  const { model: own } = modelRun.terms;
  const spend = {
    run: name,
    model: own,
    steps: 0,
    requestTokens,
    askers: telling.instructs ?? [],
    signal,
  };
  const counted: Counted = (used, cost) => {
    usage = addUsage(usage, used);
    if (cost.microdollars !== undefined) paid = (paid ?? 0) + cost.microdollars;
    requests += 1;
  };
  const model = payingModel(ctx, { limits: modelRun, terms, spend }, counted);
  const names = terms.tools.map((tool) => tool.name).join(", ");
  const ask: AskForPlan = async ({ name: form, question, schema }) => {
    const text = `[watchkeeper] ${question}\nThe tools: ${names}.`;
    const { system, maxOutputTokens } = terms;
    return callStructured(
      model,
      {
        system,
        turns: [...turns, { role: "user", content: [{ kind: "text", text }] }],
        schema,
        name: form,
        maxOutputTokens,
      },
      { signal },
    );
  };
  try {
    const { tasks } = await planWith(strategy, ask);
    const kept = tasks.map((task) => hidden(task, parts.encoder.hide));
    const shown = plannedTasks(kept, parts.encoder.encode);
    progress(ctx, name, { kind: "plan", run: name, tasks: shown });
    return { tasks: kept, thought: thought() };
  } catch (error) {
    if (signal.aborted || isLookUpFailure(error)) throw error;
    const why = parts.encoder.encode(messageOf(error));
    ctx.log.warn({ why, key: ctx.key }, "a run goes on without a plan");
    return { tasks: [], thought: thought() };
  }
}
