/**
 * The ids of a thread's entries; they are made and parsed in this file only. What may happen once has one id, so writing it
 * again changes nothing: after a lost reply, by a second worker, or by the next one. Journals keep these ids for good, so
 * no form here may change.
 */

/** Runs count from 1: `r2`. */
export function runName(number: number): string {
  return `r${number}`;
}

/** `r2.t3`: the third call of the thread's models. A command's call is its run's first: `r4.t1`. */
export function callName(run: string, number: number): string {
  return `${run}.t${number}`;
}

export function runOfCall(call: string): string {
  return call.slice(0, call.indexOf("."));
}

/** The 3 of `r2.t3`. */
export function numberOfCall(call: string): number {
  return Number(call.slice(call.lastIndexOf(".t") + 2));
}

/** How answers cite the call: `T3`. */
export function citationOf(call: string): string {
  return `T${numberOfCall(call)}`;
}

/** Actions count from 1: `a1`. */
export function actionName(number: number): string {
  return `a${number}`;
}

/** The 1 of `a1`; undefined where it is no action's name. */
export function numberOfAction(action: string): number | undefined {
  const digits = /^a(\d+)$/.exec(action)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The entry is a gate's word. */
export function isGateId(id: string): boolean {
  return id.startsWith("gate:");
}

/** Entries by their kind. A name is a run's, a call's or an action's, a post is the id of a click or a message. */
export const entryId = {
  runStarted: (run: string) => `run:${run}`,
  runEnded: (run: string) => `ended:${run}`,
  /** Of a run, or of other work that may be extended. */
  extended: (of: string, number: number) => `extended:${of}.${number}`,
  above: (run: string) => `above:${run}`,
  assistant: (run: string, step: number) => `assistant:${run}.${step}`,
  gate: (run: string, number: number) => `gate:${run}.${number}`,
  plan: (run: string, revision: number) => `plan:${run}.${revision}`,
  condensed: (run: string, number: number) => `condensed:${run}.${number}`,
  overflow: (run: string, number: number) => `overflow:${run}.${number}`,
  proposed: (action: string, revision: number) => `proposed:${action}.${revision}`,
  vote: (click: string) => `vote:${click}`,
  closed: (action: string) => `closed:${action}`,
  expiry: (action: string) => `expiry:${action}`,
  /** The grant that an action's approval gave is over by time, or taken back. */
  grantExpiry: (action: string) => `grant:${action}`,
  revoked: (action: string) => `revoked:${action}`,
  /** So many looked at its edit form until then. */
  editingEnds: (action: string, until: number) => `editing-ends:${action}.${until}`,
  /** The silence that a call made has ended. */
  silenceEnds: (call: string) => `silence:${call}`,
  /** The time has come to look at a call again. */
  lookAgain: (call: string) => `verify:${call}`,
  /** The time has come to look again at what was broken before that call. */
  lookAfter: (call: string) => `look:${call}`,
  started: (call: string) => `started:${call}`,
  finished: (call: string) => `finished:${call}`,
  settled: (call: string) => `settled:${call}`,
  /** What a worker that had lost its lease says of a call. */
  late: (call: string) => `late:${call}`,
  viewAdded: (view: string) => `view:${view}`,
  viewRemoved: (view: string) => `view-removed:${view}`,
  goal: (goal: string) => `goal:${goal}`,
  goalPlanned: (goal: string, revision: number) => `goal-plan:${goal}.${revision}`,
  goalJudged: (task: string, number: number) => `judged:${task}.${number}`,
  goalState: (goal: string, number: number) => `goal-state:${goal}.${number}`,
  delivered: (view: string, entry: string, stage: "started" | "final") =>
    `delivered:${view}:${entry}:${stage}`,
} as const;

export const noticeId = {
  /** Says what the fold wants said (`Untold`), by its id. */
  told: (due: string) => `told:${due}`,
  /** Answers a click or a message, to its author alone. */
  word: (post: string) => `word:${post}`,
  verified: (call: string) => `verified:${call}`,
  asks: (call: string) => `asks:${call}`,
  unknown: (call: string) => `unknown:${call}`,
  looking: (call: string) => `looking:${call}`,
  waits: (call: string) => `waits:${call}`,
  halfway: (waiting: string) => `halfway:${waiting}`,
  expiring: (waiting: string) => `expiring:${waiting}`,
  /** Others than its approvers are told that an action waits. */
  escalated: (action: string) => `escalated:${action}`,
  /** What came of paging people for an action. */
  paged: (action: string) => `paged:${action}`,
  notPaged: (action: string) => `not-paged:${action}`,
  pageDelayed: (action: string) => `page-delayed:${action}`,
  pageStuck: (action: string) => `page-stuck:${action}`,
  /** Tells who asked for an action what was decided of this revision: an approved one may still be denied or withdrawn. */
  decided: (action: string, revision: number) => `decided:${action}.${revision}`,
  denied: (action: string, revision: number) => `denied:${action}.${revision}`,
  withdrawn: (action: string, revision: number) => `withdrawn:${action}.${revision}`,
  expired: (waiting: string) => `expired:${waiting}`,
  /** An approved action waits for the end of a freeze. */
  frozen: (action: string, freeze: string) => `frozen:${action}:${freeze}`,
  /** A goal paused by itself: by its state's number. */
  goalPaused: (goal: string, number: number) => `goal-paused:${goal}.${number}`,
  parked: (last: number) => `parked:${last}`,
  back: (last: number) => `back:${last}`,
} as const;

/** What the fold wants said once: that the thread looks like an incident. Buttons name the offer so too. */
export const INCIDENT_OFFER = "incident-offer";

/** What the fold wants said of a message, besides its answer. */
export const untoldId = {
  pasted: (message: string) => `pasted:${message}`,
  unread: (message: string) => `unread:${message}`,
  held: (message: string) => `held:${message}`,
} as const;

/** Posts of what people write, by adapters: `msg:17.5`, `msg:17.5:edit:17.9`, `msg:17.5:removed`. */
export function isEditOf(post: string, message: string): boolean {
  return post.startsWith(`${message}:edit:`);
}

/** The post of a command that somebody gave elsewhere, by adapters: `door:17.5`, `msg:door:17`. */
export function isFromDoor(post: string): boolean {
  return /^(?:msg:)?door:/.test(post);
}

/** The delivery of a run's progress message. */
export function progressId(run: string): string {
  return `begun:${run}`;
}

/** What is shown once the message of an action, an incident or alerts stands as of entry `seq`. */
export function cardState(of: string, seq: number): string {
  return `${of}@${seq}`;
}

export function readCardState(shown: string): { of: string; seq: number } {
  const [of = "", seq = ""] = shown.split("@");
  return { of, seq: Number(seq) };
}

/** A group of alerts, by the entry that told of it first. */
export function alertsName(openedAt: number): string {
  return `alert${openedAt}`;
}

const OVER = "over:";

/** What the fold wants said once all of a group's alerts are over, as of entry `seq`. */
export function alertsOver(name: string, seq: number): string {
  return `${OVER}${cardState(name, seq)}`;
}

/** The group of such a word; undefined where something else is said. */
export function readAlertsOver(due: string): string | undefined {
  return due.startsWith(OVER) ? readCardState(due.slice(OVER.length)).of : undefined;
}

/** It says what came of paging people. */
export function isPageNotice(id: string): boolean {
  return /^(?:paged|not-paged|page-delayed|page-stuck):/.test(id);
}

/** What the pager is owed for an action at last: that nobody is needed any more. */
export function pageOver(action: string): string {
  return `page-over:${action}`;
}

const SUMMARY = "summary@";

/** What is shown once a thread's summary stands as of entry `seq`. */
export function summaryState(seq: number): string {
  return `${SUMMARY}${seq}`;
}

/** Undefined where something else is shown. */
export function readSummaryState(shown: string): number | undefined {
  return shown.startsWith(SUMMARY) ? Number(shown.slice(SUMMARY.length)) : undefined;
}

/** The run whose answer is shown. */
export function runOfAnswer(shown: string): string | undefined {
  return /^ended:(.+)$/s.exec(shown)?.[1];
}

/** The call whose card takes long, as the notice of that id says. */
export function delayedCallOf(notice: string): string | undefined {
  return /^looking:(.+)$/s.exec(notice)?.[1];
}

/** That the journal of a view's place points to the thread, and that it does no more. */
export const WHERE_IT_IS = { open: "link:open", over: "link:over" } as const;

const QUOTE = "quote:";

/** What is shown once a quote stands as of entry `seq`; a person's message is named by its post. */
export function quoteState(post: string, seq: number): string {
  return `${QUOTE}${post}@${seq}`;
}

/** Undefined where something else is shown. */
export function readQuoteState(shown: string): { id: string; seq: number } | undefined {
  if (!shown.startsWith(QUOTE)) return undefined;
  const at = shown.lastIndexOf("@");
  return { id: shown.slice(QUOTE.length, at), seq: Number(shown.slice(at + 1)) };
}

/** The delivery of a quote, however often it is brought up to date. */
export function quoteId(post: string): string {
  return `${QUOTE}${post}`;
}

const PAST = "@past";

/** What is shown once a live notice stands as it stays. */
export function pastState(notice: string): string {
  return `${notice}${PAST}`;
}

/** The notice of such a state; undefined where the notice itself, or something else, is shown. */
export function readPastState(shown: string): string | undefined {
  return shown.endsWith(PAST) ? shown.slice(0, -PAST.length) : undefined;
}
