import { entryId, noticeId, numberOfAction } from "../../thread/entry-ids.ts";
import { type Action, isOpen } from "../../thread/action.ts";
import { checkEligible } from "../../approvals/eligibility.ts";
import { refusalOf, refusalToApprove } from "../../approvals/refusal.ts";
import { signed } from "../../core/people.ts";
import type { AppendKind, Draft, Entry, Outcome } from "../../core/entry.ts";
import { pastAction } from "../../thread/fold.ts";
import type { Call, Thread } from "../../thread/state.ts";
import { namelessDraft } from "./absence.ts";
import { putOff } from "../background.ts";
import { storeNow } from "../context.ts";
import { appendDecision } from "../store.ts";
import type { ThreadContext } from "./context.ts";
import { placeOf } from "./permission/look-up.ts";
import { namesNoMachine } from "../../thread/machines.ts";
import { putOffKey } from "../../thread/decide.ts";
import { revise } from "./propose.ts";
import { finishedDraft } from "./tool-call.ts";

/** What to write, made from the fold as it is then; undefined: nothing yet. */
type Drafts = () => Draft<AppendKind>[] | undefined;

/** How an approved action ended, after `it`. */
const ENDED: Readonly<Record<Outcome, string>> = {
  ok: "is done",
  error: "failed",
  unknown: "ended, nobody knows how",
  denied: "was denied",
  expired: "expired",
  cancelled: "was cancelled",
  blocked: "was not run",
};

/** A click whose author cannot be looked up is not waited for any longer than this. */
const JUDGE_LIMIT_MS = 5 * 60_000;

/**
 * Judges one click: whose it is, whether they may, what it changes. Writes what that comes to, made from the fold as it is
 * when written: a vote, a new revision, a settlement, or a private word about why it changes nothing. A click that could
 * not be judged stays, holds back every dispatch and is tried again.
 */
export async function judgeClick(
  ctx: ThreadContext,
  click: Entry<"click">,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const { clicks } = ctx.thread;
  const drafts = await judge(ctx, click, signal).catch((error: unknown) => {
    if (storeNow(ctx) - click.at >= JUDGE_LIMIT_MS) return unjudged(ctx, click);
    ctx.parts.log.warn({ err: error, key: ctx.key }, "a click could not be judged yet");
    return () => {
      // Those before it were tried before it: they wait as long, so that the ones behind have their turn.
      for (const { id, at } of clicks.values()) {
        putOff(ctx, putOffKey(id), error, at + JUDGE_LIMIT_MS);
        if (id === click.id) break;
      }
      return undefined;
    };
  });
  // Cut short by a shutdown it was not judged at all; the next start does it.
  const open = () => clicks.has(click.id) && !signal.aborted;
  return () => appendDecision(ctx, () => (open() ? drafts() : undefined));
}

/** An action of the thread that its fold has forgotten, because it is over. */
async function recall(
  { thread, parts, key }: ThreadContext,
  id: string,
): Promise<Action | undefined> {
  if ((numberOfAction(id) ?? Infinity) > thread.counts.actions) return undefined;
  return pastAction(await parts.journal.read(key), id);
}

/** What a click comes to, from look-ups that may fail. */
async function judge(
  ctx: ThreadContext,
  click: Entry<"click">,
  signal: AbortSignal,
): Promise<Drafts> {
  if (click.choice.kind === "settle") return settle(ctx, click, click.choice, signal);
  if (click.choice.kind === "answer") return answer(ctx, click, click.choice.text, signal);
  const action = ctx.thread.actions.get(click.action) ?? (await recall(ctx, click.action));
  if (action === undefined)
    return () => [privateWord(click, `There is no action ${click.action} here.`)];
  const word = lateWord(action, click);
  if (word !== undefined) return () => [privateWord(click, word)];
  if (click.choice.kind === "edit") return edit(ctx, action, click, click.choice.args, signal);
  if (click.choice.kind === "cancel")
    return cancel(ctx, action, click, { sure: click.choice.sure === true, signal });
  const isNameless = () => namesNoMachine(action, ctx.parts.dispatcher.isHostBound);
  if (click.choice.kind === "approve" && isNameless()) {
    const drafts = [namelessDraft(action), privateWord(click, namelessWord(action))];
    return () => (isNameless() ? drafts : undefined);
  }
  if (isOtherCard(action, click)) return () => [otherCardWord(action, click)];
  const approve = click.choice.kind !== "deny";
  const { proposal } = action;
  // Whoever asked may not approve, but think better of it.
  const electorate = approve ? proposal : { ...proposal, barred: [] };
  const { account } = click.actor;
  const allowed = await checkEligible(account, electorate, placeOf(ctx, signal));
  return () => {
    const late = lateWord(action, click);
    if (late !== undefined) return [privateWord(click, late)];
    if (isOtherCard(action, click)) return [otherCardWord(action, click)];
    if (!allowed.eligible) {
      const { place } = action.proposal;
      const why = approve
        ? refusalToApprove(action, account, allowed)
        : refusalOf({ verb: "deny", what: action.action, place }, allowed);
      return [privateWord(click, why)];
    }
    const { personOf } = ctx.parts;
    const isOwn = (vote: Entry<"vote">) =>
      vote.account === account || [vote.person, personOf(vote.account)].includes(personOf(account));
    if (approve && action.votes.some((vote) => vote.approve && isOwn(vote))) {
      return [privateWord(click, alreadyApproved(action))];
    }
    return [voteOf(ctx, click, allowed.basis)];
  };
}

/**
 * The card that was pressed showed something else, or does not say what it showed, as those of 0.3. After the store lost
 * entries the same number and revision may be another action's. A deny counts all the same.
 */
function isOtherCard({ proposal }: Action, { choice, via, digest }: Entry<"click">): boolean {
  if (choice.kind !== "approve") return false;
  return digest === undefined ? via === "button" : !proposal.digest.startsWith(digest);
}

function otherCardWord({ action }: Action, click: Entry<"click">): Draft<"notice"> {
  const text = `You pressed Approve on an old card of ${action}, so it did not count. The card was drawn again: read it, then press there.`;
  return { ...privateWord(click, text), redraws: action };
}

function namelessWord({ action }: Action): string {
  return `${action} was asked for by an older version, which named no machine, so your Approve did not count. It is asked again with its machine: decide there.`;
}

function alreadyApproved({ action, proposal, votes }: Action): string {
  const missing = proposal.quorum - votes.filter((vote) => vote.approve).length;
  if (missing <= 0) return `You've approved ${action} already.`;
  return missing === 1
    ? `You've approved ${action}. One more person needs to.`
    : `You've approved ${action}. ${missing} more people need to.`;
}

function voteOf(ctx: ThreadContext, click: Entry<"click">, basis: string): Draft<"vote"> {
  const { choice, actor } = click;
  const reason = choice.kind === "deny" ? choice.reason : undefined;
  return {
    id: entryId.vote(click.id),
    kind: "vote",
    action: click.action,
    revision: click.revision,
    click: click.id,
    account: actor.account,
    person: ctx.parts.personOf(actor.account),
    name: actor.name,
    ...(actor.handle !== undefined && { handle: actor.handle }),
    approve: choice.kind === "approve",
    basis: `${click.via}, ${basis}`,
    ...(reason !== undefined && { reason }),
  };
}

/** The platform did not say for too long who clicked: a no counts, since it is the safe one; a yes is handed back. */
function unjudged(ctx: ThreadContext, click: Entry<"click">): Drafts {
  const minutes = JUDGE_LIMIT_MS / 60_000;
  return () => {
    const action = ctx.thread.actions.get(click.action);
    const late = action && lateWord(action, click);
    if (late !== undefined) return [privateWord(click, late)];
    const { choice } = click;
    const { kind } = choice;
    if (action !== undefined && kind === "deny") {
      return [voteOf(ctx, click, `not looked up for ${minutes} minutes: a deny counts`)];
    }
    if (action !== undefined && choice.kind === "cancel")
      return cancelDrafts(ctx, action, click, choice.sure === true);
    const text = `I could not look you up for ${minutes} minutes, so your click on ${click.action} did not count. Please click again.`;
    return [privateWord(click, text)];
  };
}

/** Why a click changes nothing any more, or undefined. A cancel means every revision. */
function lateWord(action: Action, click: Entry<"click">): string | undefined {
  return click.choice.kind === "cancel" ? decided(action, click) : tooLate(action, click);
}

/** Why a click on this revision changes nothing any more, or undefined. */
function tooLate(action: Action, click: Entry<"click">): string | undefined {
  const { proposal } = action;
  const late = decided(action, click);
  if (late !== undefined) return late;
  // Also a click on a revision that was not shown yet: nobody approves what they have not seen.
  if (click.revision === proposal.revision && click.seq > proposal.seq) return undefined;
  return `${action.action} was edited after you opened it. Check revision ${proposal.revision} and decide again.`;
}

/** How the action was decided before the click, or undefined. */
function decided(action: Action, click: Entry<"click">): string | undefined {
  const { proposal, closed, started, finished, votes } = action;
  const id = action.action;
  if (started) {
    const who = votes.map(signed).join(", ");
    const state = finished === undefined ? "is running" : ENDED[finished.outcome];
    const isOwn = votes.length === 1 && votes[0]?.account === click.actor.account;
    return `${isOwn ? "You" : who} already approved ${id}; it ${state}.`;
  }
  if (closed !== undefined) {
    const { outcome, by } = closed;
    if (outcome === "expired") return expired(id);
    if (by === undefined) return `${id} was ${outcome} before you pressed.`;
    return `${by} already ${outcome === "cancelled" ? "withdrew" : outcome} ${id}.`;
  }
  return click.at < proposal.expiresAt ? undefined : expired(id);
}

function expired(action: string): string {
  return `${action} has expired. If it's still needed, ask for it again.`;
}

async function edit(
  ctx: ThreadContext,
  action: Action,
  click: Entry<"click">,
  args: Draft<"action_proposed">["args"],
  signal: AbortSignal,
): Promise<Drafts> {
  const { proposal } = action;
  const call = ctx.thread.runs.get(action.run)?.calls.get(action.call);
  const open = { ...proposal, barred: [] };
  const allowed = await checkEligible(click.actor.account, open, placeOf(ctx, signal));
  const revised =
    allowed.eligible && call !== undefined && isOpen(action)
      ? await revise(ctx, call, action, { args, click }, signal)
      : "it cannot be edited now";
  return () => {
    const late = tooLate(action, click);
    if (late !== undefined) return [privateWord(click, late)];
    if (!allowed.eligible)
      return [privateWord(click, refusalOf({ verb: "edit", what: action.action }, allowed))];
    if (typeof revised === "string")
      return [privateWord(click, `${action.action} stays as it was: ${revised}`)];
    return [revised];
  };
}

/**
 * Takes an action back: whoever asked for it may, and whoever could deny it. Who did not ask is asked first whether they
 * mean to end it for everyone.
 */
async function cancel(
  ctx: ThreadContext,
  action: Action,
  click: Entry<"click">,
  { sure, signal }: { sure: boolean; signal: AbortSignal },
): Promise<Drafts> {
  const { account } = click.actor;
  const allowed = action.askers.has(account)
    ? { eligible: true as const }
    : await checkEligible(account, action.proposal, placeOf(ctx, signal));
  return () => {
    const late = decided(action, click);
    if (late !== undefined) return [privateWord(click, late)];
    if (!allowed.eligible)
      return [privateWord(click, refusalOf({ verb: "withdraw", what: action.action }, allowed))];
    return cancelDrafts(ctx, action, click, sure);
  };
}

function cancelDrafts(
  ctx: ThreadContext,
  action: Action,
  click: Entry<"click">,
  sure: boolean,
): Draft<AppendKind>[] {
  const by = signed(click.actor);
  if (!sure && !action.askers.has(click.actor.account)) return [confirmation(ctx, action, click)];
  const closed: Draft<"action_closed"> = {
    id: entryId.closed(action.action),
    kind: "action_closed",
    action: action.action,
    outcome: "cancelled",
    by,
    click: click.id,
  };
  const text = `Cancelled by ${by}. The tool was not executed.`;
  return [closed, finishedDraft(action, "cancelled", text)];
}

function confirmation(
  { thread }: ThreadContext,
  { action, askers }: Action,
  click: Entry<"click">,
): Draft<"notice"> {
  const names = [...askers].map((account) => thread.names.get(account) ?? account).join(" and ");
  const text = `You didn't ask for ${action}${names === "" ? "" : `; ${names} did`}. To withdraw it for everyone, press the button or type: cancel ${action} for everyone`;
  return { ...privateWord(click, text), confirms: action };
}

/** The answer to a question, by a click on one of its choices. */
async function answer(
  ctx: ThreadContext,
  click: Entry<"click">,
  text: string,
  signal: AbortSignal,
): Promise<Drafts> {
  const call = openQuestion(ctx.thread, click.action);
  const over = () => [privateWord(click, questionOver(ctx.thread, click.action))];
  if (call === undefined) return over;
  const place = placeOf(ctx, signal);
  const allowed = await checkEligible(click.actor.account, OPEN_TO_ALL, place);
  return () => {
    if (call.finished !== undefined) return over();
    if (!allowed.eligible)
      return [privateWord(click, refusalOf({ verb: "answer", what: "this question" }, allowed))];
    return [answerDraft(call, click, text)];
  };
}

/** Why nobody can answer it any more. */
function questionOver({ answered }: Thread, call: string): string {
  const end = answered.get(call);
  if (end === undefined) return `There is no open question ${call} here.`;
  const by = end.by === undefined ? "" : `${end.by}: `;
  if (end.outcome === "answered") return `That question was already answered (${by}${end.text}).`;
  return end.outcome === "expired"
    ? "That question expired without an answer. Write the answer here instead."
    : "That question was called off.";
}

/**
 * The answer to a question, as the message of who was asked, or a word to who may not give one. Undefined while its author
 * could not be looked up; it stays then and is tried again.
 */
export async function judgeReply(
  ctx: ThreadContext,
  key: string,
  call: Call,
  reply: Entry<"message">,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const drafts = await replyDrafts(ctx, call, reply, signal).catch((error: unknown) => {
    const limit = reply.at + JUDGE_LIMIT_MS;
    if (storeNow(ctx) >= limit) {
      const text = `I could not look you up for ${JUDGE_LIMIT_MS / 60_000} minutes, so this did not count as the answer. Please write it again.`;
      return [privateWord(reply, text)];
    }
    ctx.parts.log.warn({ err: error, key: ctx.key }, "an answer could not be judged yet");
    putOff(ctx, key, error, limit);
    return undefined;
  });
  const open = () => call.finished === undefined && !signal.aborted;
  return () => appendDecision(ctx, () => (open() ? drafts : undefined));
}

async function replyDrafts(
  ctx: ThreadContext,
  call: Call,
  reply: Entry<"message">,
  signal: AbortSignal,
): Promise<Draft<AppendKind>[]> {
  const allowed = await checkEligible(reply.actor.account, OPEN_TO_ALL, placeOf(ctx, signal));
  if (allowed.eligible) return [answerDraft(call, reply, reply.text)];
  const text = refusalOf({ verb: "answer", what: "this question" }, allowed);
  return [privateWord(reply, text)];
}

function answerDraft(
  call: Call,
  { id, actor }: Entry<"click"> | Entry<"message">,
  text: string,
): Draft<"tool_finished"> {
  return { ...finishedDraft(call, "ok", `${actor.name} answered: ${text}`), answers: id };
}

function openQuestion({ runs }: Thread, ref: string): Call | undefined {
  for (const run of runs.values()) {
    const call = run.open.get(ref);
    if (call?.asked !== undefined) return call;
  }
  return undefined;
}

/** Permits nothing: any full member may say it. */
const OPEN_TO_ALL = { approvers: { kind: "anyone" as const }, quorum: 1, barred: [] };

async function settle(
  ctx: ThreadContext,
  click: Entry<"click">,
  { happened, reason }: { happened: boolean; reason?: string | undefined },
  signal: AbortSignal,
): Promise<Drafts> {
  const call = unknownCall(ctx.thread, click.action);
  const none = `${click.action} has no unknown outcome to settle.`;
  if (call === undefined) return () => [privateWord(click, none)];
  // Settling says what happened in the world; it permits nothing, so who asked for the action may do it.
  const electorate = { ...(call.action?.proposal ?? ANYONE), barred: [] };
  const place = placeOf(ctx, signal);
  const allowed = await checkEligible(click.actor.account, electorate, place);
  return () => {
    if (call.settled !== undefined) return [privateWord(click, none)];
    if (!allowed.eligible)
      return [privateWord(click, refusalOf({ verb: "settle", what: click.action }, allowed))];
    const settled: Draft<"settled"> = {
      id: entryId.settled(call.call),
      kind: "settled",
      call: call.call,
      click: click.id,
      person: ctx.parts.personOf(click.actor.account),
      name: click.actor.name,
      happened,
      ...(reason !== undefined && { reason }),
    };
    return [settled];
  };
}

const ANYONE = { approvers: { kind: "anyone" as const }, quorum: 1 };

/** Finds it by its action's id or, where policy asked nobody, by its own. */
function unknownCall(thread: Thread, ref: string): Call | undefined {
  for (const call of thread.unknown.values()) {
    if (call.call === ref || call.action?.action === ref) return call;
  }
  return undefined;
}

/** A private word to whoever clicked or wrote. */
function privateWord(
  { id, actor }: Entry<"click"> | Entry<"message">,
  text: string,
): Draft<"notice"> {
  return { id: noticeId.word(id), kind: "notice", text, to: actor.account, answers: id };
}
