import { type Action, isOpen } from "../approvals/action.ts";
import { checkEligible, personOf } from "../approvals/eligibility.ts";
import type { AppendKind, Draft, Entry } from "../core/entry.ts";
import type { Call, Thread } from "../journal/fold.ts";
import type { Drive } from "./drive.ts";
import { revise } from "./propose.ts";

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
  const action = drive.thread.actions.get(click.action);
  if (action === undefined)
    return () => [privateWord(click, `There is no action ${click.action} here.`)];
  if (click.choice.kind === "edit") return edit(drive, action, click, click.choice.args, signal);
  const { approve, reason } =
    click.choice.kind === "approve"
      ? { approve: true, reason: undefined }
      : { approve: false, reason: click.choice.reason };
  const allowed = await checkEligible(click.actor.account, action.proposal, drive.adapter.people);
  return () => {
    const late = tooLate(action, click);
    if (late !== undefined) return [privateWord(click, late)];
    if (!allowed.eligible)
      return [privateWord(click, `You may not decide on ${action.action}: ${allowed.why}.`)];
    const person = personOf(click.actor.account);
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
  if (click.at >= proposal.expiresAt) return `Too late: ${id} has expired; ask again.`;
  // Also a click on a revision that was not shown yet: nobody approves what they have not seen.
  if (click.revision !== proposal.revision || click.seq < proposal.seq) {
    return `${id} was edited since; it now stands at revision ${proposal.revision}. Look at the card again.`;
  }
  return undefined;
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
  const allowed = await checkEligible(click.actor.account, open, drive.adapter.people);
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

async function settle(
  drive: Drive,
  click: Entry<"click">,
  { happened, reason }: { happened: boolean; reason?: string | undefined },
): Promise<Drafts> {
  const call = unknownCall(drive.thread, click.action);
  // Settling says what happened in the world; it permits nothing, so who asked for the action may do it.
  const electorate = { ...(call?.action?.proposal ?? ANYONE), barred: [] };
  const allowed = await checkEligible(click.actor.account, electorate, drive.adapter.people);
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
      person: personOf(click.actor.account),
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
