import { countedTokens } from "../core/block.ts";
import { centsOf } from "../core/money.ts";
import type { Draft, Outcome } from "../core/entry.ts";
import type { RunTerms } from "../core/run-terms.ts";
import { DELEGATE } from "../core/tool-spec.ts";
import { capText } from "../core/text.ts";
import { finishedDraft } from "./drafts-calls.ts";
import { windowFor } from "./drafts-runs.ts";
import { isCheck } from "./checking.ts";
import { limitReached } from "./gates/limit.ts";
import { entryId, numberOfCall, runName } from "./entry-ids.ts";
import { helperWords, noHelper, report } from "./helper-phrases.ts";
import { atWork, callsOf, depthOf, familyOf, MAX_AT_ONCE, rootOf } from "./family.ts";
import { modeOf, termsFor, unknownTools } from "./modes.ts";
import type { ModelRun } from "./model-run.ts";
import type { TalkingRun, Run } from "./state.ts";
import { isTalking } from "./state.ts";
import { type Surroundings, termsIn } from "./surroundings.ts";
import type { Call } from "./call.ts";

/** Which entries follow where a run asks for a helper, and when that has ended. */

type Started = Draft<"run_started">;
type Budget = NonNullable<Started["talk"]>["budget"];

/** A helper, and in how many requests. */
export interface Wanted {
  kind: "delegate";
  task: NonNullable<Started["task"]>;
  steps: number | undefined;
}

/** With less nothing is looked into. */
const LEAST_TOKENS = 5_000;
/** Of its run's budget, what one helper may use; of what is left of it, half at most, so that the run can still answer. */
const PART = 1 / 3;
const LEFT = 1 / 2;

/**
 * The helper's run, with which the call begins. Undefined where too many are at work: it waits. The budget is a part of what its
 * parent has left, and what the others may still use is not left.
 */
export function helperDrafts(
  call: Call,
  { task, steps }: Wanted,
  around: Surroundings,
): (Started | Draft<"tool_finished">)[] | undefined {
  const { thread, run: parts } = around;
  const parent = thread.runs.get(call.run);
  const { call: name } = call;
  const blocked = (why: string) => [finishedDraft(call, "blocked", why)];
  if (parent === undefined || !isTalking(parent) || isCheck(parent, name))
    return blocked(noHelper.onlyModels);
  if (atWork(parent) >= MAX_AT_ONCE) return undefined;
  const base = termsIn(parts, parent);
  const run = runName(thread.counts.runs + 1);
  const began = {
    id: entryId.runStarted(run),
    kind: "run_started" as const,
    run,
    answers: [],
    principals: [...parent.principals],
    ...(parent.started.app !== undefined && { app: parent.started.app }),
    calls: [],
    ...(parent.started.reads === true && { reads: true }),
    parent: { run: parent.started.run, call: name },
    task,
  };
  const terms = base && termsFor(base, modeOf({ parent, started: began }));
  if (base === undefined || terms === undefined) return blocked(noHelper.off);
  const why = whyNot(parent, base, task.tools);
  if (why !== undefined) return blocked(why);
  const budget = budgetFor(parent, steps);
  if (budget === undefined) return blocked(noHelper.nothingLeft);
  const { model } = parent.modelRun.terms;
  const { prefix, gates } = terms;
  const window = windowFor(model, terms, parts);
  const talk = { model, prefix, budget, ...(gates && { gates }), window, mode: "helper" as const };
  return [{ ...began, talk }];
}

function whyNot(parent: Run, base: RunTerms, tools: readonly string[] = []): string | undefined {
  const { depth = 0, perRun = 0 } = base.modes?.helper ?? {};
  if (depthOf(parent) >= depth) return noHelper.tooDeep;
  if ([...familyOf(rootOf(parent))].length > perRun) return noHelper.tooMany(perRun);
  const unknown = unknownTools(base, tools);
  const known = base.tools.map(({ name }) => name).filter((name) => name !== DELEGATE);
  return unknown.length === 0 ? undefined : noHelper.unknownTools(unknown, known);
}

function budgetFor({ modelRun, helpers }: TalkingRun, steps = Infinity): Budget | undefined {
  const { budget } = modelRun.terms;
  const open = helpers.flatMap(({ ended, modelRun: of }) =>
    ended === undefined && of !== undefined ? [of] : [],
  );
  const promised = open.reduce(
    (sum, { terms, usage }) => sum + Math.max(0, terms.budget.tokens - countedTokens(usage)),
    0,
  );
  const minutesPromised = open.reduce((sum, { terms }) => sum + terms.budget.minutes, 0);
  const tokensLeft = budget.tokens - countedTokens(modelRun.usage) - promised;
  const minutesLeft = budget.minutes - modelRun.workMs / 60_000 - minutesPromised;
  const tokens = Math.floor(Math.min(budget.tokens * PART, tokensLeft * LEFT));
  const minutes = Math.min(budget.minutes * PART, minutesLeft * LEFT);
  const cents = centsFor(modelRun, open);
  if (tokens < LEAST_TOKENS || minutes <= 0 || cents === 0) return undefined;
  const most = Math.max(2, Math.ceil(budget.steps * PART));
  const budgeted = { steps: Math.min(Math.max(2, steps), most), tokens, minutes };
  return { ...budgeted, ...(cents !== undefined && { cents }) };
}

/** Undefined: its parent has no such limit. */
function centsFor({ terms, money }: ModelRun, open: readonly ModelRun[]): number | undefined {
  const { cents } = terms.budget;
  if (cents === undefined) return undefined;
  const promised = open.reduce(
    (sum, each) =>
      sum + Math.max(0, (each.terms.budget.cents ?? 0) - centsOf(each.money.microdollars)),
    0,
  );
  const left = cents - centsOf(money.microdollars) - promised;
  return Math.max(0, Math.min(cents * PART, left * LEFT));
}

/** A report is a few paragraphs; what it rests on stands in its calls. */
const MAX_REPORT_BYTES = 16_000;

const OUTCOMES: Readonly<Record<NonNullable<Run["ended"]>["status"], Outcome>> = {
  completed: "ok",
  wrapped_up: "ok",
  failed: "error",
  cancelled: "cancelled",
  silent: "error",
};

/** What a helper came to is the result of the call that asked for it; that it failed is no more than that. */
export function reportDraft(call: Call, helper: Run): Draft<"tool_finished"> {
  const { ended, modelRun, started } = helper;
  const { run, task } = started;
  const { status = "failed", text = "" } = ended ?? {};
  const calls = callsOf(helper).map((each) => numberOfCall(each.call));
  const said = { run, status, text: capText(text, MAX_REPORT_BYTES) };
  const isAtLimit = status === "wrapped_up" && modelRun?.toolsOff?.gate === "limit";
  const limit = isAtLimit ? limitReached(modelRun) : undefined;
  const words = report(said, { steps: modelRun?.steps ?? 0, calls, limit });
  const finished = finishedDraft(call, OUTCOMES[status], words);
  return { ...finished, tool: DELEGATE, doing: helperWords(task) };
}
