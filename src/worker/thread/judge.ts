import { workKey } from "../../thread/work-keys.ts";
import type { Choice, Entry } from "../../core/entry.ts";
import type { ReverseCall } from "../../core/tool-call.ts";
import { type Action, askedCall, isOpen, isShown } from "../../thread/action.ts";
import { checkEligible } from "../../approvals/eligibility.ts";
import { refusalOf, refusalToApprove } from "../../approvals/refusal.ts";
import { briefArgs } from "../../adapters/render/phrases.ts";
import { capText } from "../../core/text.ts";
import type { StepOf } from "../../thread/steps.ts";
import {
  type Author,
  JUDGE_LIMIT_MS,
  type Right,
  RIGHT_TO_ANSWER,
  RIGHT_TO_BEGIN,
  rightFor,
} from "../../thread/click-rights.ts";
import type { ClickFacts } from "../../thread/drafts-clicks.ts";
import type { Hint } from "../../thread/drafts-notices.ts";
import { numberOfAction } from "../../thread/entry-ids.ts";
import { pastAction } from "../../thread/fold.ts";
import { viewFor } from "../../thread/views.ts";
import { BREAK_GLASS, CANNOT_BE_EDITED, clickAnswers } from "../../thread/click-phrases.ts";
import { conclude, draftsFrom } from "./conclude.ts";
import { putOff } from "../background.ts";
import type { Learn, ThreadContext } from "./parts.ts";
import { mayExtend } from "./extend.ts";
import { peopleOf } from "./permission/look-up.ts";
import { glassRule, permit } from "./permission/permission.ts";
import { showMeter } from "./progress.ts";
import { proposeEdit } from "./propose.ts";

/** Learns who clicked, answered or agreed, and whether they may. Cut short by a shutdown it is done by the next start. */

/** A click that could not be judged stays, holds back every dispatch and is tried again. */
export const judgeClick: Learn<"judge"> = async (ctx, step, signal) => {
  const { click } = step;
  const facts = await learnClick(ctx, step, signal).catch((error: unknown) => {
    if (ctx.now() - click.at >= JUDGE_LIMIT_MS) return { author: "unknown" as const };
    ctx.log.warn({ err: error, key: ctx.key }, "a click could not be judged yet");
    return { error };
  });
  return async () => {
    if (signal.aborted) return;
    if (!("error" in facts)) {
      await conclude(ctx, { ...step, facts });
      showExtended(ctx, click);
      return;
    }
    const { clicks } = ctx.thread;
    // Those before it were tried before it: they wait as long, so that the ones behind have their turn.
    for (const { id, at } of clicks.has(click.id) ? clicks.values() : []) {
      putOff(ctx, workKey.click(id), facts.error, at + JUDGE_LIMIT_MS);
      if (id === click.id) break;
    }
  };
};

async function learnClick(
  ctx: ThreadContext,
  step: StepOf<"judge">,
  signal: AbortSignal,
): Promise<ClickFacts> {
  const { click } = step;
  const { choice } = click;
  const isPast = choice.kind !== "settle" && !ctx.thread.actions.has(click.action);
  const action = isPast ? await recall(ctx, click.action) : ctx.thread.actions.get(click.action);
  // Most that comes too late needs nobody looked up.
  if (draftsFrom(ctx, { ...step, facts: { action } }) !== undefined) return { action };
  const { account } = click.actor;
  const right = rightFor(click, action, ctx.thread);
  const asMember = (it: Right) => mayDo(ctx, account, it, { action, signal });
  const author = await (right !== undefined
    ? isForBudget(click)
      ? mayExtend(ctx, click, () => asMember(right), signal)
      : asMember(right)
    : choice.kind === "break"
      ? mayBreak(ctx, account, action, signal)
      : mayAsk(ctx, account, askedBy(choice, action), signal));
  if (action !== undefined && isTypedYes(click)) await untilShown(ctx, action, account);
  if (choice.kind !== "edit" || action === undefined) return { action, author };
  const call = ctx.thread.runs.get(action.run)?.calls.get(action.call);
  const edited =
    author.eligible && call !== undefined && isOpen(action)
      ? await proposeEdit(ctx, call, action, { args: choice.args, click }, signal)
      : CANNOT_BE_EDITED;
  return { action, author, edited };
}

/** Its button goes at once, and who pressed it is told. */
function showExtended(ctx: ThreadContext, { choice, id }: Entry<"click">): void {
  for (const run of choice.kind === "extend" ? ctx.thread.going : []) {
    if (run.modelRun?.extensions.at(-1)?.post === id) showMeter(ctx, run);
  }
}

function isForBudget({ choice }: Entry<"click">): boolean {
  return choice.kind === "continue" || choice.kind === "extend";
}

function isTypedYes({ choice, digest }: Entry<"click">): boolean {
  return digest === undefined && (choice.kind === "approve" || choice.kind === "break");
}

/** A card that is on its way may have been read before it is written down that it stands there. */
async function untilShown({ thread, busy }: ThreadContext, action: Action, account: string) {
  const view = viewFor(thread, account);
  if (!isShown(action, view)) await busy.get(workKey.view(view))?.ended;
}

/** An action of the thread that its fold has forgotten, because it is over. */
async function recall(
  { thread, journal, key }: ThreadContext,
  id: string,
): Promise<Action | undefined> {
  if ((numberOfAction(id) ?? Infinity) > thread.counts.actions) return undefined;
  return pastAction(await journal.read(key), id);
}

/** @throws what a look-up throws: that is neither yes nor no */
async function mayDo(
  ctx: ThreadContext,
  account: string,
  { rule, ...right }: Right,
  { action, signal }: { action?: Action | undefined; signal: AbortSignal },
): Promise<Author> {
  const found = await checkEligible(account, rule, peopleOf(ctx, signal));
  if (found.eligible) return found;
  const isApproval = right.verb === "approve" && action !== undefined;
  const isOthersGlass = right.verb === BREAK_GLASS && found.because === "unlisted";
  if (isOthersGlass) return { eligible: false, why: clickAnswers.notYourGlass(right.what) };
  const why = isApproval ? refusalToApprove(action, account, found) : refusalOf(right, found);
  return { eligible: false, why };
}

/** The call that the click asks for: what takes the action back, or the same once more. */
function askedBy({ kind }: Choice, action: Action | undefined): ReverseCall {
  const call = kind === "repeat" ? action && askedCall(action) : action?.reverse;
  return call ?? { tool: "", args: {} };
}

/** Whoever may ask for that call; what more it needs is asked on its card. @throws as `mayDo` */
async function mayAsk(
  ctx: ThreadContext,
  account: string,
  { tool, args }: ReverseCall,
  signal: AbortSignal,
): Promise<Author> {
  const decision = await permit(ctx, { run: "", call: "", tool, args, editor: account }, signal);
  return decision.kind === "deny"
    ? { eligible: false, why: decision.why }
    : { eligible: true, basis: "" };
}

/** Whoever asked may too: it is for when nobody else is there. @throws as `mayDo` */
async function mayBreak(
  ctx: ThreadContext,
  account: string,
  action: Action | undefined,
  signal: AbortSignal,
): Promise<Author> {
  const rule = await glassRule(ctx, peopleOf(ctx, signal));
  const what = action?.action ?? "";
  if (rule === undefined) return { eligible: false, why: clickAnswers.noGlass(what) };
  const found = await mayDo(ctx, account, { verb: BREAK_GLASS, what, rule }, { signal });
  return found.eligible ? { eligible: true, basis: "break-glass" } : found;
}

export const judgeReply: Learn<"reply"> = async (ctx, step, signal) => {
  const { key, reply } = step;
  const limit = reply.at + JUDGE_LIMIT_MS;
  const look = mayDo(ctx, reply.actor.account, RIGHT_TO_ANSWER, { signal });
  const facts = await look.catch((error: unknown) => {
    if (ctx.now() >= limit) return "unknown";
    ctx.log.warn({ err: error, key: ctx.key }, "an answer could not be judged yet");
    putOff(ctx, key, error, limit);
    return undefined;
  });
  return async () => {
    if (facts !== undefined && !signal.aborted) await conclude(ctx, { ...step, facts });
  };
};

/** A goal begins for somebody who may have it work for them. */
export const judgeBeginning: Learn<"admit"> = async (ctx, step, signal) => {
  const { key, pending } = step;
  const { actor, at } = pending.entry;
  const limit = at + JUDGE_LIMIT_MS;
  const facts = await mayDo(ctx, actor.account, RIGHT_TO_BEGIN, { signal }).catch(
    (error: unknown) => {
      if (ctx.now() >= limit) return "unknown" as const;
      ctx.log.warn({ err: error, key: ctx.key }, "who wants a goal could not be judged yet");
      putOff(ctx, key, error, limit);
      return undefined;
    },
  );
  return async () => {
    if (facts !== undefined && !signal.aborted) await conclude(ctx, { ...step, facts });
  };
};

/** How long it may take to learn whether somebody may approve; a hint without a button is as good then. */
const HINT_MS = 5_000;

export const judgeAssent: Learn<"hint"> = async (ctx, step, signal) => {
  const { account } = step.message.actor;
  const facts: Hint[] = [];
  for (const action of [...ctx.thread.live].filter(isOpen)) {
    const { proposal } = action;
    const there = peopleOf(ctx, AbortSignal.any([signal, AbortSignal.timeout(HINT_MS)]));
    const found = await checkEligible(account, proposal, there).catch(() => undefined);
    const refusal =
      found?.eligible === false ? refusalToApprove(action, account, found) : undefined;
    facts.push({ action, proposal, what: briefly(action), refusal });
  }
  return async () => {
    if (!signal.aborted) await conclude(ctx, { ...step, facts });
  };
};

const MAX_ARGS_BYTES = 300;

/** `a1 (restart_service on web-1 name=nginx)`: what a yes would be to, though not every byte of it. */
function briefly({ action, proposal }: Action): string {
  const { tool, host, args } = proposal;
  const { host: _, pinned: __, ...rest } = args;
  const told = capText(briefArgs(rest), MAX_ARGS_BYTES);
  return `${action} (${tool}${host === undefined ? "" : ` on ${host}`}${told === "" ? "" : ` ${told}`})`;
}
