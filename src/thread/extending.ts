import { countedTokens } from "../core/block.ts";
import { type Budget, type Estimate, extensionOf, NEAR_LIMIT } from "../core/budget.ts";
import type { AppendKind, Draft, Entry } from "../core/entry.ts";
import { microdollarsOfCents } from "../core/money.ts";
import { type Author, LIMIT_MINUTES } from "./click-rights.ts";
import { budgetAnswers } from "./click-phrases.ts";
import { privateNotice } from "./drafts-notices.ts";
import { continuingDraft } from "./drafts-runs.ts";
import { entryId } from "./entry-ids.ts";
import { goalAtWork } from "./goals/goal.ts";
import { nearness } from "./gates/limit.ts";
import type { ModelRun } from "./model-run.ts";
import {
  isInner,
  isTalking,
  type Run,
  type TalkingRun,
  talkingRuns,
  type Thread,
} from "./state.ts";
import type { Surroundings } from "./surroundings.ts";

/** Work near a limit may be given more, and what ended at one may be gone on with: each once, whoever presses how often. */

/** What the next extension of a run adds, and its number; undefined while none is offered. */
export function extensionFor(
  run: Run,
): { number: number; more: Budget; estimate: Estimate } | undefined {
  if (!isTalking(run) || run.stopped || isInner(run)) return undefined;
  const { modelRun } = run;
  return nearness(modelRun) < NEAR_LIMIT ? undefined : nextExtension(modelRun);
}

function nextExtension(modelRun: ModelRun): { number: number; more: Budget; estimate: Estimate } {
  const more = extensionOf(modelRun.terms.budget);
  return { number: modelRun.extensions.length + 1, more, estimate: estimateFor(modelRun, more) };
}

/** What work costs that goes on as the run did, up to that budget. */
export function estimateFor(
  { steps, usage, money }: Pick<ModelRun, "steps" | "usage" | "money">,
  { cents = Infinity, ...budget }: Budget,
): Estimate {
  const used = countedTokens(usage);
  const told = { steps: budget.steps, tokens: budget.tokens, minutes: budget.minutes };
  if (money.unpriced > 0 || used === 0 || steps === 0) return told;
  const byTokens = (money.microdollars / used) * budget.tokens;
  const bySteps = (money.microdollars / steps) * budget.steps;
  const most = Math.min(byTokens, bySteps, microdollarsOfCents(cents));
  return { ...told, microdollars: Math.round(most) };
}

/** Who may extend or go on with it without being looked up as a member: those whose words instruct it. */
export function instructsIt({ choice, actor, action }: Entry<"click">, thread: Thread): boolean {
  const { account } = actor;
  if (choice.kind === "continue") return thread.unfinished?.principals.has(account) === true;
  return meantRun(action, thread)?.principals.has(account) === true;
}

/** Typed without a name it means what is at work. */
function meantRun(name: string, thread: Thread): Run | undefined {
  if (name !== "") return thread.runs.get(name);
  const { first, side } = talkingRuns(thread);
  return first ?? side;
}

/** Undefined: the author has to be looked up first. */
export function extendDrafts(
  click: Entry<"click">,
  author: Author | "unknown" | undefined,
  { thread, personOf }: Surroundings,
): Draft<AppendKind>[] | undefined {
  const say = (text: string) => [privateNotice(click, text)];
  const run = meantRun(click.action, thread);
  const why = whyNotExtend(click, run, thread);
  if (run?.modelRun === undefined || why !== undefined) return say(why ?? budgetAnswers.nothing);
  if (author === "unknown") return say(budgetAnswers.notLookedUp(LIMIT_MINUTES));
  if (author === undefined) return undefined;
  if (!author.eligible) return say(author.why);
  const { account, name } = click.actor;
  const { run: of } = run.started;
  const { number, more } = nextExtension(run.modelRun);
  return [
    {
      id: entryId.extended(of, number),
      kind: "extended",
      of,
      number,
      post: click.id,
      account,
      person: personOf(account),
      name,
      basis: `${click.via}, ${author.basis}`,
      more,
    },
  ];
}

/**
 * `revision`: the number of the extension that a button offered, which counts once; 0: whichever is next, where one is offered. A
 * worker that died may have shown a button for what its journal does not have yet.
 */
function whyNotExtend(
  { action, revision, seq }: Entry<"click">,
  run: Run | undefined,
  thread: Thread,
): string | undefined {
  if (run === undefined && action !== "") return budgetAnswers.over(action);
  const goal = run === undefined ? goalAtWork(thread) : undefined;
  if (goal !== undefined) return budgetAnswers.onlyGoal(goal.started.goal);
  if (run === undefined) return budgetAnswers.nothing;
  const { run: name, parent, goal: of } = run.started;
  if (parent !== undefined) return budgetAnswers.helper(name, parent.run);
  if (of !== undefined) return budgetAnswers.ofGoal(name, of.goal);
  if (!isTalking(run)) return budgetAnswers.over(name);
  if (run.stopped || seq < thread.stoppedAt) return budgetAnswers.stopped(name);
  const { extensions } = run.modelRun;
  const before = extensions[revision - 1];
  if (before !== undefined) return budgetAnswers.extended(name, before.name);
  const isOffered = revision === extensions.length + 1 || extensionFor(run) !== undefined;
  return isOffered && revision <= extensions.length + 1 ? undefined : budgetAnswers.notNear(name);
}

/** As `extendDrafts`. */
export function continueDrafts(
  click: Entry<"click">,
  author: Author | "unknown" | undefined,
  around: Surroundings,
): Draft<AppendKind>[] | undefined {
  const { thread } = around;
  const say = (text: string) => [privateNotice(click, text)];
  const { first } = talkingRuns(thread);
  if (first !== undefined) return say(goesOnBy(first));
  const isAsked = [...thread.pending.values()].some(({ entry }) => entry.kind === "message");
  if (isAsked || thread.unfinished?.run !== click.action) return say(budgetAnswers.notUnfinished);
  if (click.seq < thread.stoppedAt) return say(budgetAnswers.stopped(click.action));
  if (author === "unknown") return say(budgetAnswers.notLookedUp(LIMIT_MINUTES));
  if (author === undefined) return undefined;
  if (!author.eligible) return say(author.why);
  const draft = continuingDraft(click.action, click, around);
  return draft === undefined ? say(budgetAnswers.noModel) : [draft];
}

function goesOnBy({ started, authors: [by] }: TalkingRun): string {
  return started.continues === undefined || by === undefined
    ? budgetAnswers.atWork
    : budgetAnswers.continued(by.name);
}
