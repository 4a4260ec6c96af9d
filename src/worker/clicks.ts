import { type Action, isOpen } from "../approvals/action.ts";
import { checkEligible } from "../approvals/eligibility.ts";
import type { AppendKind, Draft, Entry } from "../core/entry.ts";
import type { Call, Thread } from "../journal/thread.ts";
import { type Drive, placeOf } from "./drive.ts";
import { revise } from "./propose.ts";
import { finishedDraft } from "./tool-call.ts";

type Drafts = () => Draft<AppendKind>[];

/**
 * Judges one click: whose it is, whether they may, what it changes. Returns what to write, made from the fold as it is
 * when written: a vote, a new revision, a settlement, or a private word about why it changes nothing.
 */
export async function judge(
  drive: Drive,
  click: Entry<"click">,
  signal: AbortSignal,
): Promise<Drafts> {
  if (click.choice.kind === "settle") return settle(drive, click, click.choice);
  if (click.choice.kind === "answer") return answer(drive, click, click.choice.text);
  const action = drive.thread.actions.get(click.action);
  if (action === undefined)
    return () => [privateWord(click, `There is no action ${click.action} here.`)];
  if (click.choice.kind === "edit") return edit(drive, action, click, click.choice.args, signal);
  if (click.choice.kind === "cancel") return cancel(drive, action, click);
  const { approve, reason } =
    click.choice.kind === "deny"
      ? { approve: false, reason: click.choice.reason }
      : { approve: true, reason: undefined };
  const { proposal } = action;
  // Whoever asked may not approve, but think better of it.
  const electorate = approve ? proposal : { ...proposal, barred: [] };
  const allowed = await checkEligible(click.actor.account, electorate, placeOf(drive));
  return () => {
    const late = tooLate(action, click);
    if (late !== undefined) return [privateWord(click, late)];
    if (!allowed.eligible)
      return [privateWord(click, `You may not decide on ${action.action}: ${allowed.why}.`)];
    const person = drive.parts.personOf(click.actor.account);
    if (approve && action.votes.some((vote) => vote.approve && vote.person === person)) {
      const missing = `it needs ${action.proposal.quorum} different people`;
      return [privateWord(click, `You have already approved ${action.action}; ${missing}.`)];
    }
    const vote: Draft<"vote"> = {
      id: `vote:${click.id}`,
      kind: "vote",
      action: action.action,
      revision: click.revision,
      click: click.id,
      account: click.actor.account,
      person,
      name: click.actor.name,
      approve,
      basis: `${click.via}, ${allowed.basis}`,
      ...(reason !== undefined && { reason }),
    };
    return [vote];
  };
}

/** Why a click on this action changes nothing any more, or undefined. */
function tooLate(action: Action, click: Entry<"click">): string | undefined {
  const { proposal } = action;
  const late = decided(action, click);
  if (late !== undefined) return late;
  // Also a click on a revision that was not shown yet: nobody approves what they have not seen.
  if (click.revision === proposal.revision && click.seq > proposal.seq) return undefined;
  return `${action.action} was edited since; it now stands at revision ${proposal.revision}. Look at the card again.`;
}

/** How the action was decided before the click, or undefined. */
function decided(action: Action, click: Entry<"click">): string | undefined {
  const { proposal, closed, started, finished, votes } = action;
  const id = action.action;
  if (started) {
    const who = votes.map((vote) => vote.name).join(", ");
    const state = finished === undefined ? "is running" : `has ended (${finished.outcome})`;
    return `Too late: ${id} was approved by ${who} and ${state}.`;
  }
  if (closed !== undefined) {
    return `Too late: ${id} was ${closed.outcome}${closed.by === undefined ? "" : ` by ${closed.by}`}.`;
  }
  return click.at < proposal.expiresAt ? undefined : `Too late: ${id} has expired; ask again.`;
}

async function edit(
  drive: Drive,
  action: Action,
  click: Entry<"click">,
  args: Draft<"action_proposed">["args"],
  signal: AbortSignal,
): Promise<Drafts> {
  const { proposal } = action;
  const call = drive.thread.runs.get(action.run)?.calls.get(action.call);
  const open = { ...proposal, barred: [] };
  const allowed = await checkEligible(click.actor.account, open, placeOf(drive));
  const revised =
    allowed.eligible && call !== undefined && isOpen(action)
      ? await revise(drive, call, action, { args, click }, signal)
      : "it cannot be edited now";
  return () => {
    const late = tooLate(action, click);
    if (late !== undefined) return [privateWord(click, late)];
    if (!allowed.eligible)
      return [privateWord(click, `You may not edit ${action.action}: ${allowed.why}.`)];
    if (typeof revised === "string")
      return [privateWord(click, `${action.action} stays as it was: ${revised}`)];
    return [revised];
  };
}

/** Takes an action back: whoever asked for it may, and whoever could deny it. */
async function cancel(drive: Drive, action: Action, click: Entry<"click">): Promise<Drafts> {
  const { account, name } = click.actor;
  const asked = drive.thread.runs.get(action.run)?.principals.has(account) === true;
  const allowed = await checkEligible(account, action.proposal, placeOf(drive));
  return () => {
    const late = decided(action, click);
    if (late !== undefined) return [privateWord(click, late)];
    if (!asked && !allowed.eligible)
      return [privateWord(click, `You may not cancel ${action.action}: ${allowed.why}.`)];
    const closed: Draft<"action_closed"> = {
      id: `closed:${action.action}`,
      kind: "action_closed",
      action: action.action,
      outcome: "cancelled",
      by: name,
      click: click.id,
    };
    const text = `Cancelled by ${name}. The tool was not executed.`;
    return [closed, finishedDraft(action, "cancelled", text)];
  };
}

/** The answer to a question, by a click on one of its choices. */
async function answer(drive: Drive, click: Entry<"click">, text: string): Promise<Drafts> {
  const call = openQuestion(drive.thread, click.action);
  const allowed = await checkEligible(click.actor.account, OPEN_TO_ALL, placeOf(drive));
  return () => {
    if (call === undefined || call.finished !== undefined)
      return [privateWord(click, `${click.action} is no question that waits for an answer.`)];
    if (!allowed.eligible)
      return [privateWord(click, `You may not answer for this thread: ${allowed.why}.`)];
    return [answerDraft(call, click, text)];
  };
}

/** The answer to a question, as the message that came next; undefined while its author may not give one. */
export async function replyDrafts(
  drive: Drive,
  call: Call,
  reply: Entry<"message">,
): Promise<Draft<AppendKind>[]> {
  const { account } = reply.actor;
  const allowed = await checkEligible(account, OPEN_TO_ALL, placeOf(drive));
  if (allowed.eligible) return [answerDraft(call, reply, reply.text)];
  const text = `The question waits for a full member of this thread: ${allowed.why}.`;
  return [{ id: `word:${reply.id}`, kind: "notice", text, to: account, answers: reply.id }];
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
  drive: Drive,
  click: Entry<"click">,
  { happened, reason }: { happened: boolean; reason?: string | undefined },
): Promise<Drafts> {
  const call = unknownCall(drive.thread, click.action);
  // Settling says what happened in the world; it permits nothing, so who asked for the action may do it.
  const electorate = { ...(call?.action?.proposal ?? ANYONE), barred: [] };
  const allowed = await checkEligible(click.actor.account, electorate, placeOf(drive));
  return () => {
    if (call === undefined || call.settled !== undefined) {
      return [privateWord(click, `${click.action} has no unknown outcome to settle.`)];
    }
    if (!allowed.eligible)
      return [privateWord(click, `You may not settle ${click.action}: ${allowed.why}.`)];
    const settled: Draft<"settled"> = {
      id: `settled:${call.call}`,
      kind: "settled",
      call: call.call,
      click: click.id,
      person: drive.parts.personOf(click.actor.account),
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

/** A private word to whoever clicked. */
export function privateWord(click: Entry<"click">, text: string): Draft<"notice"> {
  return {
    id: `word:${click.id}`,
    kind: "notice",
    text,
    to: click.actor.account,
    answers: click.id,
  };
}
