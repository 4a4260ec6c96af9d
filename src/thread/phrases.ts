import type { Room } from "./addressed.ts";
import type { Entry, Outcome } from "../core/entry.ts";
import type { ErrorCode } from "../core/errors.ts";
import { formatElapsed } from "../core/instant.ts";
import { signed } from "../core/people.ts";
import { type Action, approvingVotes, type Grant } from "./action.ts";
import { citationOf } from "./entry-ids.ts";
import type { Absence } from "./machines.ts";
import {
  type Call,
  type PendingPost,
  type QuestionEnd,
  refOf,
  type Run,
  type UntoldFact,
} from "./state.ts";
import { questionExpiry } from "./waiting.ts";

/** What a thread tells people. Results of calls are told to models too: their words stay, so that old journals replay. */

const OR = new Intl.ListFormat("en", { type: "disjunction" });

/** `12:03 UTC` */
function formatTime(at: number): string {
  return `${new Date(at).toISOString().slice(11, 16)} UTC`;
}

function formatMinutes(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return "less than a minute";
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}

// Runs

const CONTINUE = 'Write "continue" to go on from here.';

export const runEndings = {
  noAnswer: "The model did not come to an answer.",
  refusal: "The model declined to answer.",
  content_filter: "The provider's filter withheld the model's answer.",
  malformed: "The model called tools in a form that its server could not read, twice.",
  empty: "The model gave no answer.",
  cutOff: "> Cut off at the output limit.",
  changed: "The program was changed while this run was open, so it ends here.",
  goOn: CONTINUE,
  stopped: (limit: string | undefined) =>
    `Stopped because of ${limit === undefined ? "it went in circles" : `a limit (${limit})`}. ${CONTINUE}`,
} as const;

export function modelFailure(
  why: string,
  code: ErrorCode | undefined,
): { head: string; foot: string } {
  const left = code === "MODEL_CONTENT_UNSUPPORTED" ? ", without the files sent so far" : "";
  const isSpent = code === "BUDGET_EXHAUSTED";
  const again = isSpent ? "" : `Nothing was lost. Write again, and I'll try again${left}. `;
  return {
    head: `The model could not answer. ${why}`,
    foot: `${again}\`run …\` commands work without the AI.`,
  };
}

export function report(why: string, calls: readonly Call[]): string {
  const lines = calls.flatMap(({ call, tool, finished }) =>
    finished === undefined ? [] : [`- [${citationOf(call)}] ${tool}: ${finished.outcome}`],
  );
  return lines.length === 0 ? why : `${why}\n\nWhat was done so far:\n${lines.join("\n")}`;
}

function stopped({ stoppedBy }: Pick<Run, "stoppedBy"> | PendingPost): string {
  return stoppedBy === undefined ? "Stopped" : `Stopped by ${stoppedBy}`;
}

const COVERED =
  "That covers what was written meanwhile too: write it again if you still need an answer.";

export function stoppedBefore(pending: PendingPost): string {
  return `${stopped(pending)} before it began.`;
}

/** Who stopped it, after what, and what may still go on. `written`: by the model, by then. */
export function stoppedRun(run: Run, written: string): string {
  const made = [...run.calls.values()].filter(({ started }) => started !== undefined);
  const after = made.length === 1 ? "1 check" : `${made.length} checks`;
  const unknown = made.filter(({ finished }) => finished?.outcome === "unknown");
  const names = [...new Set(unknown.map(({ tool }) => tool))].join(", ");
  return [
    `${stopped(run)} ${made.length === 0 ? "before the first check" : `after ${after}`}.`,
    ...(names === "" ? [] : [`${names} may still be running: its outcome is unknown.`]),
    // They waited for the next turn, or for a card that the Stop closed.
    ...(run.modelRun?.unseen.length ? [COVERED] : []),
    ...(written === "" ? [] : [`So far, unfinished and not checked:\n\n${written} …`]),
  ].join("\n\n");
}

/** Why a card was closed that a message had asked for. */
export const closings = {
  edited: "edited the message that asked for it",
  removed: "the message that asked for it was removed",
};

function inWords(grade: string): string {
  return `“${grade.charAt(0)}${grade.slice(1).toLowerCase()}”`;
}

/** What is said of an answer below it, or before what it claims. */
export const doubts = {
  nothingChanged: "Nothing was changed in this run.",
  nothingWorked: "No change in this run is known to have worked.",
  neverRan: "It cited checks that never ran; I removed them.",
  ungraded: "Unverified: the answer doesn't say how sure it is.",
  noCheck: (grade: string) => `It says ${inWords(grade)}, but cites no check that shows it.`,
  allFailed: (grade: string) =>
    `It says ${inWords(grade)}, but every check it cites failed or is unknown.`,
} as const;

// Results of calls

export const results = {
  silent: "You stayed silent; nothing was executed.",
  stopped: "Stopped before it was run.",
  interrupted: (why: string) => `Interrupted, and not run again: ${why}.`,
  blocked: (why: string) => `Nothing was run: ${why}.`,
  notRun: (why: string) => `${why}; nothing was run`,
  unchecked: (why: string) => `not possible: ${why}.`,
  readsOnly: "its run only reads",
  beyondReading:
    "Not run: a card is open or was when this run began, so the run only reads. Whoever asked is told that the change waits for the card; it is taken up then. Answer now what reads can show.",
  cancelled: (by: string) => `Cancelled by ${by}. The tool didn't run.`,
  answered: (by: string, text: string) => `${by} answered: ${text}`,
  unanswered: (waited: string) =>
    `Nobody answered within ${waited}. Go on without the answer, or say what is left open.`,
} as const;

export function closedResult(
  outcome: "denied" | "expired" | "cancelled",
  by: string | undefined,
  reason: string | undefined,
): string {
  const word = { denied: "Denied", expired: "Expired", cancelled: "Cancelled" }[outcome];
  const who = by === undefined ? "" : ` by ${by}`;
  const why = reason === undefined ? "" : `: ${reason}`;
  return `${word}${who}${why}. The tool didn't run.`;
}

export function recoveredResult({ tool }: Call, isDone: boolean, evidence: string): string {
  const interrupted = `The worker that ran ${tool} was cut off before it could say how it went.`;
  if (isDone) return `${interrupted} Checked afterwards: it was done. ${evidence}`;
  const checked = /[.!?]$/.test(evidence) ? evidence : `${evidence}.`;
  return `${interrupted} The outcome is unknown; it is not run again. Checked afterwards: ${checked}`;
}

/** Why a call is not left to its machine. `serving`: the machines that are there. */
export function whyAway(
  absence: Absence,
  {
    here,
    host,
    serving,
    beatAt,
  }: { here: string; host: string; serving: string[]; beatAt: number },
): string {
  const others = serving.length === 0 ? "" : ` (serving: ${serving.join(", ")})`;
  return {
    alone: `it is for ${host}, and this conversation is served on ${here} alone`,
    unknown: `no machine called ${host} serves here${others}`,
    gone: `${host} is gone, last seen at ${formatTime(beatAt)}${others}`,
    late: `${host} did not take it up`,
  }[absence];
}

export const NAMELESS = "an older version asked for it and named no machine, so I ask again";

// Notices

export const notices = {
  parked:
    "Work on this thread crashed twice and is put aside. Write anything here and I'll try again.",
  elsewhere: (why: string, text: string) =>
    `I couldn't show this in its thread, so here it is. ${why}\n\n${text}`,
  storeBack: (seconds: number) =>
    `My store did not answer for ${seconds} s, so nothing was done meanwhile. It is back.`,
  looking: (tool: string) =>
    `I can't look up who may approve ${tool} because the platform isn't answering. I'll keep trying for an hour.`,
  waits: (call: Call, host: string, beatAt: number, until: number) =>
    `${refOf(call)} (${call.tool}) waits for ${host}, last seen at ${formatTime(beatAt)}. I'll give up if ${host} isn't back by ${formatTime(until)}.`,
} as const;

export function factText(about: UntoldFact): string {
  switch (about.kind) {
    case "nothing_runs":
      return "Nothing was running.";
    case "stopping":
      return `Stopping: waiting for ${about.tools.join(", ")} to finish (interrupting it could leave things half-done).`;
    case "settled":
      return `${about.call} settled by ${about.by}: ${about.happened ? "it happened" : "it did not happen"}.`;
    case "glass":
      return `🚨 ${about.by} broke the glass for ${about.action} (${about.tool}), without waiting for other approvals or the end of a freeze: ${about.reason}`;
    case "late":
      return `${about.ref} reported back late: ${about.outcome}. ${about.text}`;
    case "held": {
      const { actions } = about;
      const decided = actions.length === 1 ? "is approved or denied" : "are decided";
      return `I only read for now. The change you asked for comes after ${actions.join(" and ")} ${decided}.`;
    }
    case "pasted": {
      const size = `${Math.round(about.bytes / 1024)} KB`;
      return `Your message is long (${size}), so I keep it as the file ${about.file} and read it there.`;
    }
    case "unread":
      // Who reads the answer has to know what it was not made from.
      return `I couldn't read ${OR.format(about.files.map(({ name, why }) => `${name} (${why})`))}.`;
    case "still_asking":
      return "I'm still waiting for your answer: press a choice or write it here.";
    case "asking_another": {
      const whom = about.asker === undefined ? "an answer" : `${about.asker}'s answer`;
      return `I'm waiting for ${whom} to my question. To answer it yourself, press a choice or type: answer ${about.call} <text>`;
    }
  }
}

/** `freeze`: what is frozen, until when, by whom and why. */
export function frozen({ action, proposal }: Action, freeze: string): string {
  const glass = proposal.breakable ? ` Or type: break-glass ${action} because <reason>` : "";
  return `${action} (${proposal.tool}) is approved and waits: ${freeze}.${glass}`;
}

/** `leftMs`: until it expires. */
export function actionExpires({ action, proposal, votes }: Action, leftMs: number): string {
  const missing = proposal.quorum - votes.filter(({ approve }) => approve).length;
  const needs = missing === 1 ? "1 more approval" : `${missing} more approvals`;
  return `${action} (${proposal.tool}) expires in ${formatMinutes(leftMs)}. It needs ${needs}.`;
}

/** `leftMs`: until it expires. */
export function questionExpires({ asked }: Call, leftMs: number): string {
  return `My question “${asked?.text ?? ""}” waits ${formatMinutes(leftMs)} more; then I go on without an answer.`;
}

export function actionExpired({ action, proposal, openedAt }: Action): string {
  const waited = formatMinutes(proposal.expiresAt - openedAt);
  return `${action} (${proposal.tool}) expired after ${waited} without the approval it needs. Nothing was run. If it's still needed, ask for it again here.`;
}

/** For the model, and for people. */
export function questionExpired({ asked }: Call): { result: string; text: string } {
  const waited = asked === undefined ? "" : formatMinutes(questionExpiry(asked) - asked.at);
  return {
    result: results.unanswered(waited),
    text: `Nobody answered “${asked?.text ?? ""}” within ${waited}, so I go on without. Write the answer here whenever you have it.`,
  };
}

export function unknownOutcome(call: Call, text: string): string {
  const ref = refOf(call);
  const { tool, started } = call;
  const where = started?.host === undefined ? tool : `${tool} on ${started.host}`;
  return `UNKNOWN outcome of ${ref} (${where}). ${text} Did it happen? Check, then type: settle ${ref} happened, or: settle ${ref} not-happened`;
}

/** What was seen of a call that is done, a while later. */
export function verifiedLater(
  call: Call,
  { afterMs, verdict, evidence }: { afterMs: number; verdict: string; evidence: string },
): string {
  const about = `${refOf(call)} (${call.tool})`;
  const after = formatElapsed(afterMs);
  if (verdict === "done") return `${about}: verified after ${after}: ${evidence}`;
  if (verdict === "not done") return `⚠ ${about}: not as expected after ${after}: ${evidence}`;
  return `⚠ ${about}: could not be verified after ${after}: ${evidence}`;
}

/** What somebody has to press who agreed in words. `what`: what a yes would be to. */
export function howToApprove(hints: readonly { action: Action; what: string }[]): string {
  const what = hints.map((hint) => hint.what).join(" or ");
  const how = hints.map(({ action }) => `\`approve ${action.action}\``).join(" or ");
  return `That alone doesn't approve ${what}. ${how} does.`;
}

// To whoever pressed or wrote, alone

export const THIS_QUESTION = "this question";

/** Why a deny counts of somebody whom the platform did not look up. */
export const notLookedUp = (minutes: number) =>
  `not looked up for ${minutes} minutes: a deny counts`;

export const CANNOT_BE_EDITED = "it cannot be edited now";

export const BREAK_GLASS = "break the glass for";
export const grantName = (action: string) => `the grant of ${action}`;

/** Buttons of a card, as people see them. */
export const pressed = { approve: "Approve", undo: "Undo", break: "Break glass" } as const;

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
  noOffer: (action: string) =>
    `${action} can only be approved once at a time. To approve it: approve ${action}`,
  stoppedUndo: (action: string) =>
    `Everything was stopped after you asked for the undo of ${action}, so it didn't begin.`,
  edited: (action: string, revision: number) =>
    `${action} was edited after you opened it. Check revision ${revision} and decide again.`,
  notEdited: (action: string, why = CANNOT_BE_EDITED) =>
    `Couldn't apply your edit to ${action}: ${why}`,
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
  const expired = `${id} has expired. If it's still needed, ask for it again.`;
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

/** Whether the bot is quiet in a thread, to the people in it. */
export function turned({ quiet, isChat }: Pick<Room, "quiet" | "isChat">): string {
  if (!isChat) return "Only you write here, so I answer everything.";
  return quiet
    ? "Quiet: in this thread I answer only when someone mentions me. `listen` ends that."
    : "Listening: I answer here without a mention again.";
}
