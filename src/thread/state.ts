import type { CallEffect, ModelRun } from "./model-run.ts";
import type { ToldFigures } from "./figures.ts";
import type { Action, Grant } from "./action.ts";
import { Room } from "./addressed.ts";
import { Digest } from "./digest.ts";
import { RecordNotes } from "./record-notes.ts";
import { type IncidentOffer, OfferNotes } from "./offer-notes.ts";
import { TaskNotes } from "./task-notes.ts";
import { NO_USAGE, type Usage } from "../core/block.ts";
import { type Money, NO_MONEY } from "../core/money.ts";
import type { Actor, Entry, JsonObject, NewerEntry, Outcome, UnreadFile } from "../core/entry.ts";
import type { ShownIncident, ShownAlerts, Root, Silence } from "./shown-living.ts";
import { type Call, refOf } from "./call.ts";
import type { Goal } from "./goals/state.ts";

/** Whoever wrote what it answers deleted that while it was at work. */
export function isWithdrawn({ stopped, stoppedBy, messages }: Run): boolean {
  return stopped && stoppedBy === undefined && messages.size === 0;
}

/** The outcome of what is called so is unknown, and nobody has said yet what became of it. */
export function isUnsettled({ unknown }: Pick<Thread, "unknown">, ref: string): boolean {
  return [...unknown.values()].some((call) => call.settled === undefined && refOf(call) === ref);
}

/** A call that is done and has yet to be looked at again. */
export interface LaterCheck {
  readonly of: Call;
  /** How long after its end, and when that is: ms, and since 1970. */
  readonly afterMs: number;
  readonly dueAt: number;
  /** A model made the call, and may cite it. */
  readonly isCited: boolean;
  /** The time has come, and the journal says so. */
  isDue: boolean;
}

export interface Run {
  readonly started: Entry<"run_started">;
  readonly calls: Map<string, Call>;
  readonly open: Map<string, Call>;
  readonly modelRun: ModelRun | undefined;
  /** A helper's: the run that asked for it. */
  readonly parent: Run | undefined;
  /** Those that it asked for; they are remembered as long as it is. */
  readonly helpers: Run[];
  /** What stood above the messages that it answers, once it was read. */
  above: Entry<"above"> | undefined;
  /** Whose messages or command began it, the first one first. */
  readonly authors: readonly Actor[];
  /** Their accounts: a question of the run's is put to them. */
  readonly askers: ReadonlySet<string>;
  /** Accounts whose messages its model was told as instructions, those that joined later included: its requesters. */
  readonly principals: Set<string>;
  /** What it answers or was joined by: posts, with the account that wrote each. */
  readonly messages: Map<string, string>;
  /** It is the command that chooses this model, once it is completed. */
  readonly chooses: string | undefined;
  /** It says that the bot is quiet from now on. */
  readonly isHush: boolean;
  /** A pin, or a command given elsewhere, began it: where all goes well nothing is said in the thread. */
  readonly aside: "pin" | "door" | undefined;
  /** A Stop came after it began and before it ended. */
  stopped: boolean;
  stoppedBy: string | undefined;
  /** Per view, the message that shows its progress. */
  readonly progressMessages: Map<string, string>;
  ended: Entry<"run_ended"> | undefined;
}

/** A message or command that no run has taken up. */
export interface PendingPost {
  entry: Entry<"message"> | Entry<"command">;
  /** It came while a card of the first run was open: a side run takes it up. */
  forSide?: true;
  /** No rule says whether it is for the bot. */
  unsure?: boolean;
  stopped: boolean;
  stoppedBy?: string;
}

/** Something the thread has yet to be told; the notice that tells it answers `id`. */
export interface Untold {
  id: string;
  /** One person only. */
  to?: string;
  about: UntoldFact;
  /** Accounts and groups that its message mentions. */
  mentions?: readonly string[];
}

/** What it says. A call is named by its id, a person as they are called. */
export type UntoldFact =
  | { kind: "nothing_runs" }
  /** A Stop came, and these calls are not cut. */
  | { kind: "stopping"; calls: readonly string[] }
  | { kind: "settled"; call: string; by: string; happened: boolean }
  /** An action is carried by one person who broke the glass. */
  | { kind: "glass"; action: string; title: string; by: string; reason: string }
  /** A worker that had lost its lease said how a call or an action ended. */
  | { kind: "alarm"; text: string }
  /** Alerts fire, and whom their route names is told. */
  | { kind: "alerts_fire"; name: string; severity: string | undefined; summary: string | undefined }
  /** All alerts of a group are over. `incident`: one that is open here. */
  | { kind: "alerts_over"; name: string; count: number; ms: number; incident: string | undefined }
  | { kind: "looks_like_incident"; offer: IncidentOffer }
  | { kind: "late"; ref: string; outcome: Outcome; text: string; isSettled: boolean }
  | { kind: "held"; actions: string[] }
  | { kind: "pasted"; file: string; bytes: number }
  | { kind: "unread"; files: readonly UnreadFile[] }
  /** Another model answers in a run than the one it began with; `code`: what kept that from it. */
  | { kind: "switched"; from: string; to: string; code: string }
  /** What a model is told was condensed: about so many tokens before and after. */
  | { kind: "condensed"; before: number; after: number }
  /** The thread is shown here no more. */
  | { kind: "moved"; where: string }
  /** A message is no answer to the question that waits for its author. */
  | { kind: "still_asking"; call: string }
  /** A message is no answer, since the question was put to somebody else. */
  | { kind: "asking_another"; call: string; asker: string | undefined };

/** An action whose rule pages people, from when it is escalated until nobody is needed any more. */
export interface Page {
  readonly action: Action;
  /** They are paged. */
  isOpen: boolean;
  /** It takes long, and the thread was told. */
  isDelayTold: boolean;
}

/** A notice that says or offers something only for so long: then it is brought up to date, or goes. */
export interface LiveNotice {
  readonly notice: Entry<"notice">;
  /** Per view, its message; empty where it was no longer worth showing. */
  readonly shown: Map<string, string>;
  /** The views that have yet to show it as it stays. */
  readonly open: Set<string>;
}

export interface QuestionEnd {
  outcome: "answered" | "expired" | "cancelled";
  text: string;
  by: string | undefined;
}

/** What can be pressed below an answer: to have the bot speak only when it is mentioned, or always again. */
export type Offered = "quiet" | "listen";

export type OutboxItem =
  | {
      kind: "answer";
      id: string;
      seq: number;
      run: Run;
      offer?: Offered;
      /** It reached a limit, and another run can go on from there. */
      goesOn?: true;
      views: Set<string>;
    }
  /** A goal has ended. */
  | { kind: "goal"; id: string; seq: number; goal: Goal; views: Set<string> }
  | { kind: "notice"; id: string; seq: number; notice: Entry<"notice">; views: Set<string> };

/** A read that found something broken when it was last made. */
export interface BrokenCall {
  readonly tool: string;
  /** As it was asked for. */
  readonly args: JsonObject;
  /** The checks that asked for it; none: a model or a person did. */
  readonly askedBy: readonly { readonly skill: string; readonly check: string }[];
  readonly broken: readonly Broken[];
}

/** One thing, and why. */
export interface Broken {
  readonly object: string;
  readonly cause: string;
}

/** What was broken is looked at again after an action. */
export interface LaterLook {
  readonly of: Call;
  readonly action: Action;
  readonly afterMs: number;
  readonly dueAt: number;
  readonly calls: readonly BrokenCall[];
  isDue: boolean;
  /** The run that looks. */
  run: string | undefined;
}

/** What somebody wrote in one of the thread's places, for the others. */
export interface Quote {
  /** Its post. */
  readonly id: string;
  readonly seq: number;
  readonly at: number;
  readonly actor: Actor;
  text: string;
  /** The names of what came with it. */
  readonly files: readonly string[];
  /** The newest entry that changed it. */
  touched: number;
  /** It was taken away. */
  isGone: boolean;
  /** Where it is shown. */
  readonly views: Set<string>;
  /** Per view, its message and the entry as of which it stands there. */
  readonly shown: Map<string, { ref: string; seq: number }>;
}

/** The view that a journal's key itself names; others come by `view_added`. */
export const MAIN_VIEW = "main";

/** What one model used in a thread. */
export interface ModelUse {
  readonly usage: Usage;
  readonly money: Money;
}

/**
 * What a prefix of a thread's journal means. It holds what is open: ended and delivered runs are dropped, so it stays
 * small however long the journal is.
 */
export class Thread {
  last = 0;
  /** The journal's running hash up to there; undefined where it has none yet. */
  head: string | undefined;
  /** A newer program's entry: nothing after it is folded, and nothing may be decided here. */
  newer: NewerEntry | undefined;
  readonly views = [MAIN_VIEW];
  /** Of every other view: whether its place's own journal points here. A view that is closing is none any more. */
  readonly pointers = new Map<string, "opening" | "open" | "closing">();
  /** Their channels. */
  readonly channels = new Map<string, string>();
  /** The newest messages of people that are shown in more than one place, by post. */
  readonly quotes = new Map<string, Quote>();
  /** Those of them that some view has yet to show as they are, the oldest first. */
  readonly owedQuotes = new Set<string>();
  /** This place is, or was, a view of another thread. */
  moved: Entry<"moved"> | undefined;
  /** Accounts that were told here where the thread goes on. */
  readonly movedTold = new Set<string>();
  /** The newest Stop. */
  stoppedAt = 0;
  /** Its work crashed twice, and nobody has written since. */
  parked = false;
  readonly pending = new Map<string, PendingPost>();
  readonly room = new Room();
  /** Accounts whose words models are told, and the entry from which on. */
  readonly voices = new Map<string, number>();
  /** Clicks that nothing has answered yet, in the order posted. */
  readonly clicks = new Map<string, Entry<"click">>();
  readonly untold = new Map<string, Untold>();
  /** Messages that only agree, written while an action was open: their authors are told that it takes a press. */
  readonly assents = new Map<string, Entry<"message">>();
  readonly liveNotices = new Map<string, LiveNotice>();
  /** By their ids. */
  readonly incidents = new Map<string, ShownIncident>();
  /** By the journals that know the groups, and their names there. */
  readonly alerts = new Map<string, ShownAlerts>();
  readonly root: Root = { words: "", touched: 0, shown: undefined };
  /** By the calls that made them. */
  readonly silences = new Map<string, Silence>();
  /** The newest questions that no longer wait, by their calls. */
  readonly answered = new Map<string, QuestionEnd>();
  /** How the people who wrote or pressed here are called, by account. */
  readonly names = new Map<string, string>();
  readonly runs = new Map<string, Run>();
  /** Those of them without an end: every step looks at all of these, so the answers that a slow chat is owed are no part of it. */
  readonly going = new Set<Run>();
  /** Those that are open or were lately; `pastAction` finds the others. */
  readonly actions = new Map<string, Action>();
  /** The actions that are not over, or whose end some view has yet to show. */
  readonly live = new Set<Action>();
  /** By the action whose approval gave it; those that ended as long as their action is remembered. */
  readonly grants = new Map<string, Grant>();
  /** By call. */
  readonly checks = new Map<string, LaterCheck>();
  /** Calls that are done and have yet to be marked, by the entry that says so. */
  readonly marks = new Map<string, Call>();
  /** What the operations channel has yet to be told too, by the entry that says so. */
  readonly alarms = new Map<string, UntoldFact>();
  /** By action: whom to page, or where that is over and has to be said there. */
  readonly pages = new Map<string, Page>();
  readonly outbox = new Map<string, OutboxItem>();
  /** Calls that ended unknown; of the settled ones the newest, since a late word on them may still come. */
  readonly unknown = new Map<string, Call>();
  /** The machine that the thread's last call was for, of those that are for one. */
  host: string | undefined;
  /** The newest run that people talked to, where it reached a limit and nothing was asked since: another may go on from there. */
  unfinished: { readonly run: string; readonly principals: ReadonlySet<string> } | undefined;
  /** The model that people chose for this thread's next runs. */
  model: string | undefined;
  /** What the models' newest calls that were made came to, by their number. */
  readonly evidence = new Map<number, CallEffect>();
  /** What the newest of them that count incidents said, by their number. */
  readonly figures = new Map<number, ToldFigures>();
  /** The newest addresses that people wrote, or that stand in a skill: safe to click in an answer. */
  readonly written = new Set<string>();
  /** Of the newest request and its response, and roughly of what came since: how long the thread has become. */
  requestTokens = 0;
  /** How many turns models are told, about. */
  turns = 0;
  /** The newest run failed because of what the thread has in it: the next one condenses it first. */
  isRefused = false;
  /** The newest calls of checks, by what they ask for: a first look does not make them again. */
  readonly looked = new Set<string>();
  /** The newest calls that found something broken, by what they ask for. */
  readonly broken = new Map<string, BrokenCall>();
  /** By the call of the action that was done about it: looks at it that are to come. */
  readonly looks = new Map<string, LaterLook>();
  /** By their names: the one that is at work, and the newest of those that are over. */
  readonly goals = new Map<string, Goal>();
  /** What memory keeps of it. */
  readonly task = new TaskNotes();
  /** Whether it looks like an incident, and what became of the offer to record it. */
  readonly offer = new OfferNotes();
  /** What the records of its incidents are owed. */
  readonly record = new RecordNotes();
  /** What its summary is made of. */
  readonly digest = new Digest();
  /** `uses`: calls that models asked for, whether they ran or not. `blind`: those that could not see everything. */
  readonly counts = {
    runs: 0,
    goals: 0,
    actions: 0,
    uses: 0,
    calls: 0,
    blind: 0,
    toolMs: 0,
    usage: NO_USAGE,
    /** What of it was used to condense, and how often that was done. */
    condensed: NO_USAGE,
    condensedMoney: NO_MONEY,
    condenses: 0,
    /** By the models that used it. */
    models: new Map<string, ModelUse>(),
  };
  /** What would help calls to see what they could not, and how many of them each. */
  readonly helps = new Map<string, number>();
  readonly keepsAll: boolean;

  /** `keepsAll`: forgets nothing of what is over. */
  constructor({ keepsAll = false } = {}) {
    this.keepsAll = keepsAll;
  }
}

/** A run of a model's. */
export type TalkingRun = Run & { readonly modelRun: ModelRun };

/** The runs of models' that people talk to and that go on: the first run, and beside it a side run, which only reads; one of each at most. */
export function talkingRuns({ going }: Thread): { first?: TalkingRun; side?: TalkingRun } {
  const found: { first?: TalkingRun; side?: TalkingRun } = {};
  for (const run of going) {
    if (isTalking(run) && !isInner(run)) found[isReader(run) ? "side" : "first"] = run;
  }
  return found;
}

/** Nobody is answered by it: it is a helper's, whose report is a call's result, or does a task of a goal. */
export function isInner({ started: { parent, goal } }: Pick<Run, "started">): boolean {
  return (parent ?? goal) !== undefined;
}

export function isTalking(run: Run): run is TalkingRun {
  return run.modelRun !== undefined && run.ended === undefined;
}

/** It may never do more than read: no person asked for it, or a card was open when it began. */
export function mayOnlyRead(run: Pick<Run, "started"> | undefined): boolean {
  const { checks, talk, principals } = run?.started ?? {};
  if (talk?.mode === "triage") return true;
  const isChecking = checks !== undefined && talk === undefined;
  return isReader(run) || isChecking || principals?.length === 0;
}

/** A side run: to its end it only reads, whatever became of the card that was open when it began. */
export function isReader(run: Pick<Run, "started"> | undefined): boolean {
  return run?.started.reads === true;
}

/** The grants that hold. */
export function grantsIn({ grants }: Pick<Thread, "grants">): Grant[] {
  return [...grants.values()].filter(({ ended }) => ended === undefined);
}

/** Nobody knows yet whether it has anything to say: until then nothing of it is shown. */
export function isUndecided({ modelRun }: Pick<Run, "modelRun">): boolean {
  return modelRun?.terms.unsure === true && modelRun.last === undefined;
}

/** For whom the run works: the first of those who began it and instruct it. */
export function askerIn({ authors, principals }: Run): Actor | undefined {
  return authors.find(({ account }) => principals.has(account)) ?? authors[0];
}
