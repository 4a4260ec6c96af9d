import { callsOf } from "./family.ts";
import { alertsAreOver, alertsFire } from "./alert-phrases.ts";
import { listAnd, listOr } from "../core/lists.ts";
import type { Room } from "./addressed.ts";
import type { Entry } from "../core/entry.ts";
import type { ErrorCode } from "../core/errors.ts";
import { formatElapsed } from "../core/instant.ts";
import { signed } from "../core/people.ts";
import { STAY_SILENT } from "../core/tool-spec.ts";
import { type Action, titleOf } from "./action.ts";
import { citationOf } from "./entry-ids.ts";
import type { Absence } from "./machines.ts";
import { isInner, isWithdrawn, type PendingPost, type Run, type UntoldFact } from "./state.ts";
import { type Call, refOf } from "./call.ts";
import { questionExpiry } from "./waiting.ts";

/** What a thread tells people. Results of calls are told to models too: their words stay, so that old journals replay. */

/** `12:03 UTC` */
export function formatTime(at: number): string {
  return `${new Date(at).toISOString().slice(11, 16)} UTC`;
}

function formatMinutes(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return "less than a minute";
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}

/** `a1 (Purge queue web)` */
function named({ action, proposal }: Pick<Action, "action" | "proposal">): string {
  return `${action} (${titleOf(proposal)})`;
}

/** What a call does, which may be no action. */
export function whatOf({ tool, action }: Pick<Call, "tool" | "action">): string {
  return action === undefined ? tool : titleOf(action.proposal);
}

// Runs

const CONTINUE = 'Write "continue" to go on from here.';

export const runEndings = {
  noAnswer: "I didn't get to an answer.",
  refusal: "The model declined to answer.",
  content_filter: "The provider's filter withheld the model's answer.",
  malformed: "The model called tools in a form that its server could not read, twice.",
  empty: "The model gave no answer.",
  cutOff: "> Cut off at the output limit.",
  changed: "The program was changed while this run was open, so it ends here.",
  outOfPhase: (tool: string, phase: string) =>
    `The model called ${tool} again and again, which the phase "${phase}" does not allow.`,
  tooLong: "The conversation does not fit into the model's window, even condensed.",
  soFar: (summary: string) => `So far, unfinished and not checked:\n\n${summary}`,
  stopped: (limit: string | undefined) =>
    limit === undefined
      ? "Stopped because it went in circles."
      : `Stopped because of a limit (${limit}).`,
} as const;

/** How people go on from an ending. The report of a helper and of a goal's task are for a model. `before`: what comes before it. */
export function goOn(run: Pick<Run, "started">, before: string): string {
  return isInner(run) ? "" : before + CONTINUE;
}

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
    finished === undefined || tool === STAY_SILENT
      ? []
      : [`- [${citationOf(call)}] ${tool}: ${finished.outcome}`],
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
  const made = callsOf(run).filter(
    ({ started, helper }) => started !== undefined && helper === undefined,
  );
  const after = made.length === 1 ? "1 check" : `${made.length} checks`;
  const unknown = made.filter(({ finished }) => finished?.outcome === "unknown");
  const names = [...new Set(unknown.map(({ tool }) => tool))].join(", ");
  return [
    `${stopped(run)} ${made.length === 0 ? "before the first check" : `after ${after}`}${isWithdrawn(run) ? `: ${closings.removed}` : ""}.`,
    ...(names === "" ? [] : [`${names} may still be running: its outcome is unknown.`]),
    // They waited for the next turn, or for a card that the Stop closed.
    ...(run.modelRun?.unseen.length ? [COVERED] : []),
    ...(written === "" ? [] : [`So far, unfinished and not checked:\n\n${written} …`]),
  ].join("\n\n");
}

/** A record was changed that has a card in the thread: by whom, and what of it. `fields`: as they are typed. */
export function recorded(
  did: string,
  incident: string,
  { name, fields }: { name: string; fields: readonly string[] },
): string {
  const what = fields.length === 0 ? "" : `: ${fields.join(", ")}`;
  const who = name === "" ? did : `${name} ${did.toLowerCase()}`;
  return `${who} ${incident}${what}. Its card shows it.`;
}

/** Why a card was closed that a message had asked for. */
export const closings = {
  edited: "edited the message that asked for it",
  removed: "the message that asked for it was removed",
};

function inWords(grade: string): string {
  return `“${grade.charAt(0)}${grade.slice(1).toLowerCase()}”`;
}

/** Why a message that somebody pinned is not in the timeline. */
export function notPinned(why: string): string {
  return `That message isn't in the timeline: ${why}`;
}

/** What is said of an answer below it, or before what it claims. */
export const doubts = {
  nothingChanged: "Nothing was changed in this run.",
  nothingWorked: "No change in this run is known to have worked.",
  neverRan: "It cited checks that never ran; I removed them.",
  ungraded: "Unverified: the answer doesn't say how sure it is.",
  otherFigures: (figures: readonly string[]) =>
    `Unverified: the statistics it cites don't say ${listOr(figures)}.`,
  noCheck: (grade: string) => `It says ${inWords(grade)}, but cites no check that shows it.`,
  allFailed: (grade: string) =>
    `It says ${inWords(grade)}, but every check it cites failed or is unknown.`,
  notCalled: (tools: readonly string[]) =>
    `Not checked as it should be: ${listAnd(tools)} was not called, or failed.`,
  notReadBack: (refs: readonly string[]) =>
    `Nothing was looked at after ${listAnd(refs)}, so it isn't known whether it helped.`,
  thinEvidence: (least: number) => `Fewer than ${least} checks stand behind it.`,
  unresolved: (refs: readonly string[]) =>
    `It leaves out what failed and was not resolved: ${listAnd(refs)}.`,
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
  nobodyAsked:
    "Not run: an app's message began this run and no person asked for it, so it only reads and asks nobody. Answer with what reads show, and say what a person could ask for.",
  notAsked: (why = "the rules ask people about it.") =>
    `Left out: ${why} A check asks nobody; network.allow or an allow rule in watchkeeper.yaml ends the question.`,
  tooLate: (limitMs: number) => `No answer within ${limitMs / 1_000} s.`,
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
  elsewhere: (link: string | undefined, why: string, text: string) =>
    `I couldn't show this in its thread${link === undefined ? "" : ` (${link})`}, so here it is. ${why}${text === "" ? "" : `\n\n${text}`}`,
  unseen: (what: string, thread: string, why: string) =>
    `I couldn't show ${what} in ${thread}, nor to who asked. ${why}`,
  storeBack: (seconds: number) =>
    `My store did not answer for ${seconds} s, so nothing was done meanwhile. It is back.`,
  looking: (tool: string) =>
    `I can't look up who may approve ${tool} because the platform isn't answering. I'll keep trying for an hour.`,
  waits: (call: Call, host: string, beatAt: number, until: number) =>
    `${refOf(call)} (${whatOf(call)}) waits for ${host}, last seen at ${formatTime(beatAt)}. I'll give up if ${host} isn't back by ${formatTime(until)}.`,
} as const;

export function factText(about: UntoldFact): string {
  switch (about.kind) {
    case "nothing_runs":
      return "Nothing was running.";
    case "stopping":
      return `Stopping: waiting for ${about.calls.join(", ")} to finish (interrupting it could leave things half-done).`;
    case "settled":
      return `${about.call} settled by ${about.by}: ${about.happened ? "it happened" : "it did not happen"}.`;
    case "glass":
      return `🚨 ${about.by} broke the glass for ${about.action} (${about.title}), without waiting for other approvals or the end of a freeze: ${about.reason}`;
    case "alarm":
      return about.text;
    case "alerts_fire":
      return alertsFire(about);
    case "alerts_over":
      return alertsAreOver(about);
    case "looks_like_incident":
      return "This looks like an incident. Record it?";
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
      return `I couldn't read ${listOr(about.files.map(({ name, why }) => `${name} (${why})`))}.`;
    case "switched": {
      const why = WHY_SWITCHED[about.code] ?? "it did not answer";
      return `${about.from} isn't answering (${why}), so ${about.to} goes on here.`;
    }
    case "condensed": {
      const [before, after] = [about.before, about.after].map((n) => n.toLocaleString("en"));
      return `The work so far is condensed for the model (about ${before} → ${after} tokens). The thread and its evidence stay as they are.`;
    }
    case "moved":
      return `This thread isn't shown here any more. It goes on in ${about.where}.`;
    case "still_asking":
      return "I'm still waiting for your answer: press a choice or write it here.";
    case "asking_another": {
      const whom = about.asker === undefined ? "an answer" : `${about.asker}'s answer`;
      return `I'm waiting for ${whom} to my question. To answer it yourself, press a choice or type: answer ${about.call} <text>`;
    }
  }
}

/** By the code of the error. */
const WHY_SWITCHED: Readonly<Record<string, string>> = {
  MODEL_AUTH: "its provider refused the key",
  MODEL_UNKNOWN: "its provider has no such model",
  MODEL_RATE_LIMITED: "its rate limit is used up",
  MODEL_SPEND_CAP: "its quota is used up",
  MODEL_OVERLOADED: "its provider is overloaded",
  MODEL_UNREACHABLE: "I can't reach its provider",
  MODEL_CUT: "its answers break off",
};

/** The same for people who are not in the thread. */
export function alarmText(
  about: UntoldFact,
  { place, link }: { place: string | undefined; link: string | undefined },
): string {
  const where = [...(place === undefined ? [] : [place]), ...(link === undefined ? [] : [link])];
  return [factText(about), ...where].join(" · ");
}

/** `freeze`: what is frozen, until when, by whom and why; where people from elsewhere read along, only that it goes on by itself. */
export function frozen(of: Action, freeze: string): string {
  const glass = of.proposal.breakable
    ? ` To run it now, type: break-glass ${of.action} because <reason>`
    : "";
  return `${named(of)} is approved and waits: ${freeze}.${glass}`;
}

/** `leftMs`: until it expires. */
export function actionExpires(of: Action, leftMs: number): string {
  return `${named(of)} expires in ${formatMinutes(leftMs)}. It needs ${missingOf(of)}.`;
}

/** To whom the rule escalates. `mayApprove`: it names them all as approvers too. */
export function escalated(action: Action, mayApprove: boolean): string {
  const { proposal, openedAt } = action;
  const waited = formatMinutes((proposal.escalation?.at ?? openedAt) - openedAt);
  const text = `${named(action)} has waited for ${waited}. It needs ${missingOf(action)}.`;
  // Only a pager is told.
  if (proposal.escalation?.to.length === 0) return text;
  const who = mayApprove
    ? "You can approve or deny it."
    : "Please get one of the approvers on its card to decide. This message doesn't make you one.";
  return `${text} ${who}`;
}

export function missingOf({ proposal, votes }: Action): string {
  const missing = proposal.quorum - votes.filter(({ approve }) => approve).length;
  return missing === 1 ? "1 more approval" : `${missing} more approvals`;
}

/** `leftMs`: until it expires. */
export function questionExpires({ asked }: Call, leftMs: number): string {
  return `My question “${asked?.text ?? ""}” waits ${formatMinutes(leftMs)} more; then I go on without an answer.`;
}

export function actionExpired(of: Action): string {
  const { action, proposal, openedAt } = of;
  const waited = formatMinutes(proposal.expiresAt - openedAt);
  return `${named(of)} expired after ${waited} without the approval it needs. Nothing was run. If it's still needed, press Ask again on its card, or type: ask again ${action}`;
}

/** To those who asked for it. */
export function decidedBy(
  action: Action,
  votes: readonly (Parameters<typeof signed>[0] & Pick<Entry<"vote">, "approve" | "reason">)[],
): string {
  const who = listAnd(votes.map(signed));
  const denial = votes.find(({ approve }) => !approve);
  const because = denial?.reason === undefined ? "." : `: ${denial.reason}`;
  return `${who} ${denial ? "denied" : "approved"} ${named(action)}${because}`;
}

/** Likewise. */
export function withdrawnBy(action: Action, by: Parameters<typeof signed>[0]): string {
  return `${signed(by)} withdrew ${named(action)} for everyone.`;
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
  const { started } = call;
  const where = whatOf(call) + (started?.host === undefined ? "" : ` on ${started.host}`);
  return `UNKNOWN outcome of ${ref} (${where}). ${text} Did it happen? Check, then type: settle ${ref} happened, or: settle ${ref} not-happened`;
}

/** What was seen of a call that is done, a while later. */
export function verifiedLater(
  call: Call,
  { afterMs, verdict, evidence }: { afterMs: number; verdict: string; evidence: string },
): string {
  const about = `${refOf(call)} (${whatOf(call)})`;
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

/** Whether the bot is quiet in a thread, to the people in it. */
export function turned({ quiet, isChat }: Pick<Room, "quiet" | "isChat">): string {
  if (!isChat) return "Only you write here, so I answer everything.";
  return quiet
    ? "Quiet: in this thread I answer only when someone mentions me. `listen` ends that."
    : "Listening: I answer here without a mention again.";
}
