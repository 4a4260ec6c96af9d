import type { Choice, Entry, Outcome } from "../core/entry.ts";
import { signed } from "../core/people.ts";
import { type Action, approvingVotes, type Grant } from "./action.ts";
import { formatTime } from "./phrases.ts";
import type { QuestionEnd } from "./state.ts";

/** What somebody is told alone who pressed or wrote, of the actions and questions of a thread. */

export const THIS_QUESTION = "this question";
export const ITS_GOAL = "its goal";
export const GOALS = "goals";

/** Why a deny counts of somebody whom the platform did not look up. */
export const notLookedUp = (minutes: number) =>
  `not looked up for ${minutes} minutes: a deny counts`;

export const CANNOT_BE_EDITED = "it cannot be edited now";

export const BREAK_GLASS = "break the glass for";
export const grantName = (action: string) => `the grant of ${action}`;

/** Buttons that mean the very card that they stand on, as people see them. */
export const pressed: Readonly<Partial<Record<Choice["kind"], string>>> = {
  approve: "Approve",
  undo: "Undo",
  break: "Break glass",
  repeat: "Ask again",
};

export const clickAnswers = {
  decided: "That was already decided.",
  noAction: (action: string) => `There is no action ${action} here.`,
  noQuestion: (call: string) => `There is no open question ${call} here.`,
  noUnknown: (ref: string) => `${ref} has no unknown outcome to settle.`,
  notLookedUp: (action: string, minutes: number) =>
    `I could not look you up for ${minutes} minutes, so your click on ${action} did not count. Please click again.`,
  replyNotLookedUp: (minutes: number) =>
    `I could not look you up for ${minutes} minutes, so this did not count as the answer. Please write it again.`,
  otherCard: (action: string, button: string) =>
    `You pressed ${button} on an old card of ${action}, so it did not count. The card was drawn again: read it, then press there.`,
  notOpened: (action: string) =>
    `${action} is too long for its card, so your Approve didn't count yet. Open it, read all of it, then approve.`,
  notShown: (action: string) =>
    `The card of ${action}, as it is now, has not been shown here, so your Approve didn't count. Open it, read all of it, then approve.`,
  nameless: (action: string) =>
    `${action} was asked for by an older version, which named no machine, so your Approve did not count. I'm asking again with the machine's name: decide there.`,
  onlyApprove: (action: string) =>
    `${action} asks for nothing to be typed, so I wasn't sure that you meant yes. To approve it, type only: approve ${action}`,
  confirm: (action: string, confirm: string, typed: string | undefined) =>
    `${typed === undefined ? `${action} needs more than a press` : `What you typed isn't it, so ${action} wasn't approved`}. To approve it, type: confirm ${action} ${confirm}`,
  glassReason: (action: string, least: number) =>
    `Breaking the glass for ${action} needs a reason of at least ${least} characters. Nothing was recorded.`,
  noGlass: (action: string) =>
    `Nobody may break the glass here, so ${action} waits for its approvals. Admins: approvals.breakGlass in watchkeeper.yaml.`,
  notYourGlass: (action: string) =>
    `You may not break the glass for ${action}. Who may: approvals.breakGlass in watchkeeper.yaml.`,
  noOffer: (action: string) =>
    `${action} can only be approved once at a time. To approve it: approve ${action}`,
  stoppedUndo: (action: string) =>
    `Everything was stopped after you asked for the undo of ${action}, so it didn't begin.`,
  stoppedRepeat: (action: string) =>
    `Everything was stopped after you asked for ${action} again, so it didn't begin.`,
  edited: (action: string, revision: number) =>
    `${action} was edited after you opened it. Check revision ${revision} and decide again.`,
  notEdited: (action: string, why = CANNOT_BE_EDITED) =>
    `Couldn't apply your edit to ${action}: ${why}`,
} as const;

/** What somebody is told alone who pressed below the offer to record an incident. */
export const offerAnswers = {
  noted: "Noted: not an incident. I won't offer it here again.",
  declined: (by: string, opens: boolean) =>
    `${by} already said that this is not an incident.${opens ? " To record it all the same, type: incident open …" : ""}`,
  recorded: (incident: string | undefined) =>
    `This is recorded already${incident === undefined ? "" : `: ${incident}`}.`,
  opening: (by: string) => `${by} pressed before you: it is being recorded.`,
  /** What the offer says at its end. */
  ended: (by: string) => `${by}: not an incident`,
  taken: (incident: string | undefined, by: string | undefined) =>
    `recorded${incident === undefined ? "" : ` as ${incident}`}${by === undefined ? "" : ` by ${by}`}`,
  stopped: "Everything was stopped after you pressed, so nothing was recorded.",
  nothing: "I offered to record nothing here.",
  notLookedUp: (minutes: number) =>
    `I could not look you up for ${minutes} minutes, so your press did not count. Please press again.`,
} as const;

/** What somebody is told alone who asked for more of a budget. */
export const budgetAnswers = {
  nothing: "Nothing is at work here that could be extended.",
  onlyGoal: (goal: string) =>
    `Beside the goal ${goal} nothing is at work here. To let that use more, type: goal extend`,
  over: (run: string) => `${run} has ended. Write "continue" to go on from there.`,
  helper: (run: string, parent: string) =>
    `${run} is a helper of ${parent}, so it can't be extended. Extend ${parent}.`,
  ofGoal: (run: string, goal: string) =>
    `${run} works for the goal ${goal}. To let that use more, type: goal extend`,
  stopped: (run: string) => `${run} was stopped, so it didn't get more.`,
  extended: (run: string, by: string) => `${by} already extended ${run}.`,
  notNear: (run: string) =>
    `${run} is far from its limits. I'll offer Extend when it comes near one.`,
  atWork: "I'm at work here already. Write what you need and I'll take it up.",
  continued: (by: string) => `${by} pressed Continue before you: I'm at it.`,
  notUnfinished:
    'More was asked here since, so that button is over. Write "continue" to go on from there.',
  noModel: "No model is configured any more, so I can't go on.",
  notLookedUp: (minutes: number) =>
    `I could not look you up for ${minutes} minutes, so your press did not count. Please press again.`,
} as const;

export function alreadyApproved({ action, proposal, votes }: Action): string {
  const missing = proposal.quorum - votes.filter((vote) => vote.approve).length;
  if (missing <= 0) return `You've approved ${action} already.`;
  return missing === 1
    ? `You've approved ${action}. One more person needs to.`
    : `You've approved ${action}. ${missing} more people need to.`;
}

/** `used 2 of 5, until 14:30 UTC` */
export function grantWords({ uses, offer, until, ended }: Grant): string {
  const used = `used ${uses.length} of ${offer.uses}`;
  if (ended === undefined) return `${used}, until ${formatTime(until)}`;
  return `${used}, ${ended.how === "revoked" ? `revoked by ${ended.by}` : ended.how}`;
}

/** Why there is nothing to revoke. */
export function noGrant(action: string, grant: Grant | undefined): string {
  if (grant === undefined) return `${action} has no grant that could be revoked.`;
  const { ended } = grant;
  if (ended === undefined) return `The grant of ${action} is used up.`;
  const how = ended.how === "revoked" ? `was revoked by ${ended.by}` : `has ${ended.how}`;
  return `The grant of ${action} ${ended.how === "stopped" ? "ended with a Stop" : how}.`;
}

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

export function decidedBefore(action: Action, click: Entry<"click">): string | undefined {
  const { action: id, proposal, closed, started, finished } = action;
  const expired = `${id} has expired. If it's still needed, type: ask again ${id}`;
  if (started) {
    const votes = approvingVotes(action);
    const who = votes.map(signed).join(", ");
    const state = finished === undefined ? "is running" : ENDED[finished.outcome];
    const isOwn = votes.length === 1 && votes[0]?.account === click.actor.account;
    return `${isOwn ? "You" : who} already approved ${id}; it ${state}.`;
  }
  if (closed !== undefined) {
    const { outcome, by } = closed;
    if (outcome === "expired") return expired;
    if (by === undefined) return `${id} was ${outcome} before you pressed.`;
    return `${by} already ${outcome === "cancelled" ? "withdrew" : outcome} ${id}.`;
  }
  return click.at < proposal.expiresAt ? undefined : expired;
}

/** Why what is done cannot be asked to be taken back, or not once more. */
export function whyNoUndo({ action, finished, undoing }: Action): string {
  if (finished === undefined) return `${action} isn't done, so there is nothing to undo.`;
  if (undoing !== undefined) return undoneBefore(action, undoing);
  if (finished.outcome === "ok") return `${action} has no undo.`;
  return finished.outcome === "unknown"
    ? `Nobody knows what ${action} did, so it has no undo.`
    : `${action} ${ENDED[finished.outcome]}, so there is nothing to undo.`;
}

/** Why an action is not asked for once more. */
export function whyNoRepeat({ action, closed, repeatedBy, undoes }: Action): string {
  if (repeatedBy !== undefined)
    return `${repeatedBy.name} already asked for ${action} again: decide on the new card.`;
  if (closed?.outcome !== "expired")
    return `${action} hasn't expired. Only what nobody decided in time can be asked for again.`;
  return `${action} was the undo of ${undoes}: type \`undo ${undoes}\` to ask for that again.`;
}

/** Who asked for it, and where that stands. */
function undoneBefore(action: string, { by, call }: NonNullable<Action["undoing"]>): string {
  const ref = call.action?.action ?? call.call;
  const { finished } = call;
  if (finished === undefined) {
    const where = call.action === undefined ? "is on its way" : `is ${ref}: decide on its card`;
    return `${by.name} already asked for the undo of ${action}. It ${where}.`;
  }
  return finished.outcome === "ok"
    ? `${action} was already undone by ${ref}, which ${by.name} asked for.`
    : `${by.name} already asked for the undo of ${action}, and nobody knows what ${ref} did.`;
}

/** `askers`: who did ask for it, as they are called. */
export function confirmCancel(action: string, askers: readonly string[]): string {
  const asked = askers.length === 0 ? "" : `; ${askers.join(" and ")} did`;
  return `You didn't ask for ${action}${asked}. To withdraw it for everyone, press the button or type: cancel ${action} for everyone`;
}

export function questionOver({ outcome, by, text }: QuestionEnd): string {
  if (outcome === "answered")
    return `That question was already answered (${by === undefined ? "" : `${by}: `}${text}).`;
  return outcome === "expired"
    ? "That question expired without an answer. Write the answer here instead."
    : "That question was called off.";
}
