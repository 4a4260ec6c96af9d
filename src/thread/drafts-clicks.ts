import { type Action, isLeft, isRepeatable, isUndoable, mustBeOpened } from "./action.ts";
import type { AppendKind, Choice, Draft, Entry } from "../core/entry.ts";
import { signed } from "../core/people.ts";
import {
  type Card,
  closedDraft,
  finishedDraft,
  namelessDraft,
  proposedDraft,
} from "./drafts-calls.ts";
import { results, turned } from "./phrases.ts";
import { privateNotice, withdrawalNotices } from "./drafts-notices.ts";
import { type Author, LIMIT_MINUTES, unknownCall } from "./click-rights.ts";
import { entryId } from "./entry-ids.ts";
import { goalClickDrafts, isOfGoal } from "./goals/clicks.ts";
import { offerTaken, openingCall } from "./incident-offer.ts";
import { openingDraft, repeatingDraft, turnedDrafts, undoingDraft } from "./drafts-runs.ts";
import { continueDrafts, extendDrafts } from "./extending.ts";
import { namesNoMachine } from "./machines.ts";
import * as phrases from "./click-phrases.ts";
import type { Thread } from "./state.ts";
import type { Surroundings } from "./surroundings.ts";
import { answeredDrafts } from "./drafts-answers.ts";
import {
  whyNotYes,
  votedDrafts,
  hasApproved,
  hasSeen,
  isOtherCard,
  otherCardNotice,
} from "./drafts-votes.ts";

export interface ClickFacts {
  /** The action that it is about, also one that its thread's fold has forgotten. */
  action?: Action | undefined;
  /** `unknown`: for too long nobody could say. Undefined: nobody was asked. */
  author?: Author | "unknown";
  /** What an edit asks for, or why there can be no such card. */
  edited?: Card | string;
}

/**
 * What a click comes to: a vote, a new revision, a settlement, an answer, or a private word about why it changes nothing.
 * Undefined: its author has to be looked up first.
 */
export function clickDrafts(
  click: Entry<"click">,
  facts: ClickFacts,
  around: Surroundings,
): Draft<AppendKind>[] | undefined {
  const { thread } = around;
  const { author } = facts;
  const { choice } = click;
  if (choice.kind === "quiet" || choice.kind === "listen") {
    // Everybody sees what changes; a second press changes nothing.
    if (thread.room.turned === click.id) return turnedDrafts(click, thread);
    return [privateNotice(click, turned(thread.room))];
  }
  if (isOfGoal(click)) return goalClickDrafts(click, author, around);
  if (choice.kind === "extend") return extendDrafts(click, author, around);
  if (choice.kind === "continue") return continueDrafts(click, author, around);
  if (choice.kind === "incident") return offerDrafts(click, choice, author, thread);
  if (author === "unknown") return unjudgedDrafts(click, around);
  if (choice.kind === "settle") return settledDrafts(click, choice, author, around);
  if (choice.kind === "answer") return answeredDrafts(click, choice.text, author, thread);
  const action = thread.actions.get(click.action) ?? facts.action;
  if (action === undefined)
    return [privateNotice(click, phrases.clickAnswers.noAction(click.action))];
  if (choice.kind === "undo") return undoDrafts(action, click, author, thread);
  if (choice.kind === "repeat") return repeatDrafts(action, click, author, thread);
  if (choice.kind === "revoke") return revokeDrafts(action, click, author, around);
  const late = lateWord(action, click);
  if (late !== undefined) return [privateNotice(click, late)];
  if (choice.kind === "approve" && namesNoMachine(action, around.isBound)) {
    return [
      namelessDraft(action),
      privateNotice(click, phrases.clickAnswers.nameless(action.action)),
    ];
  }
  if (isOtherCard(action, click)) return [otherCardNotice(action, click)];
  const missing = whyNotYes(action, choice);
  if (missing !== undefined) return [privateNotice(click, missing)];
  if (choice.kind === "cancel" && action.askers.has(click.actor.account)) {
    return cancelDrafts(action, click, around);
  }
  if (author === undefined) return undefined;
  if (!author.eligible) return [privateNotice(click, author.why)];
  // Who may not do it at all is told that, and not to write more.
  if (choice.kind === "break" && choice.reason.trim().length < MIN_REASON)
    return [privateNotice(click, phrases.clickAnswers.glassReason(action.action, MIN_REASON))];
  if (choice.kind === "edit") return [editedDraft(action, click, facts.edited)];
  if (choice.kind === "cancel") return cancelDrafts(action, click, around);
  if (choice.kind === "approve" && hasApproved(action, click, around)) {
    return [privateNotice(click, phrases.alreadyApproved(action))];
  }
  // Whatever is left lets it run, but a deny.
  if (choice.kind !== "deny" && !hasSeen(action, click, around)) {
    const say = phrases.clickAnswers[mustBeOpened(action.proposal) ? "notOpened" : "notShown"];
    return [{ ...privateNotice(click, say(action.action)), approves: [action.action] }];
  }
  return votedDrafts(action, click, author.basis, around);
}

/** The platform did not say for too long who clicked: a no counts, since it is the safe one; a yes is handed back. */
function unjudgedDrafts(click: Entry<"click">, around: Surroundings): Draft<AppendKind>[] {
  const { choice } = click;
  const action = around.thread.actions.get(click.action);
  const isOfThePast = choice.kind === "undo" || choice.kind === "repeat";
  const late = action && !isOfThePast ? lateWord(action, click) : undefined;
  if (late !== undefined) return [privateNotice(click, late)];
  if (action !== undefined && choice.kind === "deny") {
    return votedDrafts(action, click, phrases.notLookedUp(LIMIT_MINUTES), around);
  }
  if (action !== undefined && choice.kind === "cancel") {
    return cancelDrafts(action, click, around);
  }
  return [privateNotice(click, phrases.clickAnswers.notLookedUp(click.action, LIMIT_MINUTES))];
}

/** Of the reason for breaking the glass: more than a word. */
const MIN_REASON = 10;

/** Begins a run of the one call that opens the record, for whoever pressed; or ends the offer. */
function offerDrafts(
  click: Entry<"click">,
  { opens }: Extract<Choice, { kind: "incident" }>,
  author: Author | "unknown" | undefined,
  thread: Thread,
): Draft<AppendKind>[] | undefined {
  const say = phrases.offerAnswers;
  const { made } = thread.offer;
  const late = made === undefined ? say.nothing : offerTaken(thread, opens);
  if (made === undefined || late !== undefined) return [privateNotice(click, late ?? say.nothing)];
  if (opens && click.seq < thread.stoppedAt) return [privateNotice(click, say.stopped)];
  if (author === "unknown") return [privateNotice(click, say.notLookedUp(LIMIT_MINUTES))];
  if (author === undefined) return undefined;
  if (!author.eligible) return [privateNotice(click, author.why)];
  if (opens) return [openingDraft(openingCall(made), click, thread)];
  return [{ ...privateNotice(click, say.noted), declines: signed(click.actor) }];
}

function revokeDrafts(
  { action, askers }: Action,
  click: Entry<"click">,
  author: Author | undefined,
  { thread, personOf }: Surroundings,
): Draft<AppendKind>[] | undefined {
  const grant = thread.grants.get(action);
  if (grant === undefined || !isLeft(grant))
    return [privateNotice(click, phrases.noGrant(action, grant))];
  const { account, name } = click.actor;
  const hasAsked = askers.has(account);
  if (!hasAsked && author === undefined) return undefined;
  if (!hasAsked && author?.eligible === false) return [privateNotice(click, author.why)];
  const basis = hasAsked || author?.eligible !== true ? "asked" : author.basis;
  return [
    {
      id: entryId.revoked(action),
      kind: "grant_revoked",
      action,
      click: click.id,
      person: personOf(account),
      name,
      basis: `${click.via}, ${basis}`,
    },
  ];
}

/** Begins a run of the one call that takes the action back: from there on it is a call like any other. */
function undoDrafts(
  action: Action,
  click: Entry<"click">,
  author: Author | undefined,
  thread: Thread,
): Draft<AppendKind>[] | undefined {
  if (isOtherCard(action, click)) return [otherCardNotice(action, click)];
  const { reverse } = action;
  if (click.seq < thread.stoppedAt)
    return [privateNotice(click, phrases.clickAnswers.stoppedUndo(action.action))];
  if (reverse === undefined || !isUndoable(action))
    return [privateNotice(click, phrases.whyNoUndo(action))];
  if (author === undefined) return undefined;
  if (!author.eligible) return [privateNotice(click, author.why)];
  return [undoingDraft(action.action, reverse, click, thread)];
}

/** Asks for what expired once more, in a run of its one call: as if whoever pressed had written it. */
function repeatDrafts(
  action: Action,
  click: Entry<"click">,
  author: Author | undefined,
  thread: Thread,
): Draft<AppendKind>[] | undefined {
  if (isOtherCard(action, click)) return [otherCardNotice(action, click)];
  if (click.seq < thread.stoppedAt)
    return [privateNotice(click, phrases.clickAnswers.stoppedRepeat(action.action))];
  if (!isRepeatable(action)) return [privateNotice(click, phrases.whyNoRepeat(action))];
  if (author === undefined) return undefined;
  if (!author.eligible) return [privateNotice(click, author.why)];
  return [repeatingDraft(action, click, thread)];
}

/** Why a click changes nothing any more, or undefined. A cancel means every revision. */
function lateWord(action: Action, click: Entry<"click">): string | undefined {
  const { proposal } = action;
  const late = phrases.decidedBefore(action, click);
  if (late !== undefined || click.choice.kind === "cancel") return late;
  // Also a click on a revision that was not shown yet: nobody approves what they have not seen.
  if (click.revision === proposal.revision && click.seq > proposal.seq) return undefined;
  return phrases.clickAnswers.edited(action.action, proposal.revision);
}

/** The next revision, or a notice that says why not. Its expiry, place and reason stay. */
function editedDraft(
  { action, run, call, proposal }: Action,
  click: Entry<"click">,
  edited: ClickFacts["edited"],
): Draft<"action_proposed" | "notice"> {
  if (edited === undefined || typeof edited === "string") {
    return privateNotice(click, phrases.clickAnswers.notEdited(action, edited));
  }
  const next = { action, revision: proposal.revision + 1 };
  return { ...proposedDraft({ run, call }, next, edited, proposal), click: click.id };
}

/** Takes an action back. Who did not ask for it is asked first whether they mean to end it for everyone. */
function cancelDrafts(
  action: Action,
  click: Entry<"click">,
  around: Surroundings,
): Draft<AppendKind>[] {
  const { choice, actor } = click;
  const isSure = choice.kind === "cancel" && choice.sure === true;
  if (!isSure && !action.askers.has(actor.account))
    return [confirmation(action, click, around.thread)];
  const by = signed(actor);
  return [
    closedDraft(action, "cancelled", { by, click: click.id }),
    finishedDraft(action, "cancelled", results.cancelled(by)),
    ...withdrawalNotices(action, actor, around),
  ];
}

function confirmation(
  { action, askers }: Action,
  click: Entry<"click">,
  { names: known }: Thread,
): Draft<"notice"> {
  const names = [...askers].map((account) => known.get(account) ?? account);
  return { ...privateNotice(click, phrases.confirmCancel(action, names)), confirms: action };
}

function settledDrafts(
  click: Entry<"click">,
  { happened, reason }: { happened: boolean; reason?: string | undefined },
  author: Author | undefined,
  { thread, personOf }: Surroundings,
): Draft<AppendKind>[] | undefined {
  const call = unknownCall(thread, click.action);
  if (call === undefined || call.settled !== undefined) {
    return [privateNotice(click, phrases.clickAnswers.noUnknown(click.action))];
  }
  if (author === undefined) return undefined;
  if (!author.eligible) return [privateNotice(click, author.why)];
  return [
    {
      id: entryId.settled(call.call),
      kind: "settled",
      call: call.call,
      click: click.id,
      person: personOf(click.actor.account),
      name: click.actor.name,
      happened,
      ...(reason !== undefined && { reason }),
    },
  ];
}
