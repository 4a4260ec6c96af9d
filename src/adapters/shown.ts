import type { ShownGoal } from "../core/goal.ts";
import type { Usage } from "../core/block.ts";
import type { Budget, Estimate } from "../core/budget.ts";
import type {
  ArtifactRef,
  Effect,
  JsonObject,
  Outcome,
  Preview,
  ResultImage,
  Severity,
} from "../core/entry.ts";
import type { IncidentStatus } from "../core/incident-status.ts";
import type { Money } from "../core/money.ts";
import type { PlannedTask } from "../core/plan.ts";
import type { Finding, Gap } from "../core/finding.ts";
import type { JournalKey } from "../core/journal-key.ts";

/** Where an action stands. `approved` lasts only until it starts. */
export type ActionPhase =
  | "open"
  | "approved"
  | "running"
  | "done"
  | "denied"
  | "expired"
  | "cancelled"
  | "void"
  | "unknown"
  | "failed";

/** Everything a card shows. Rendered by code from the journal; nothing in it comes from a model but `reason`. */
export interface ActionCard {
  key: JournalKey;
  action: string;
  revision: number;
  tool: string;
  effect: Effect;
  /** The machine that it acts on; undefined: it does not matter where it is run. */
  host: string | undefined;
  /** The exact arguments that will be executed. */
  args: JsonObject;
  /** The canonical form (RFC 8785) of those that were asked for. */
  canonical: string;
  /** The same of those that the program filled in; with the others they are what the digest is over. */
  filled?: string | undefined;
  digest: string;
  /** A requester's or model's words; unverified. */
  reason: string | undefined;
  preview: Preview;
  phase: ActionPhase;
  approvers: string;
  /** The accounts of everybody who may approve, where the line above names groups. */
  listed?: readonly string[];
  /** The accounts and groups whose decision is asked: its message mentions them. */
  mentions?: readonly string[];
  quorum: number;
  votes: { name: string; approve: boolean; reason: string | undefined }[];
  /** When its revision was asked, ms since 1970. */
  askedAt?: number | undefined;
  expiresAt: number;
  /** Who or what ended it and how, once it has ended. */
  ending: string | undefined;
  /** What has to be typed to approve it. */
  confirm?: string | undefined;
  /** Some may run it without the others' approvals, for a written reason. */
  breakable?: boolean | undefined;
  /** What its approval may grant besides: the very same, so often and for so long; the digest's beginning names both. */
  offer?: { uses: number; minutes: number; digest: string } | undefined;
  /** The grant that carries it instead of an approval: of which action, and by whom. */
  granted?: { action: string; by: string } | undefined;
  /** What it granted: how much of it was used, and whether more may be. */
  grant?: { words: string; isLeft: boolean } | undefined;
  /** When the last vote came, ms since 1970. */
  decidedAt?: number | undefined;
  /** Too long to be read on a card: it was shown whole to whoever approves it. */
  mustOpen?: boolean | undefined;
  /** Who has had its edit form open for at most 2 min. */
  editing?: string | undefined;
  /** What was seen when it was looked at again afterwards. */
  verified?: "done" | "not done" | "unknown" | undefined;
  /** Of what expired: whether the same can be asked for once more, or who did. */
  repeat?: { state: "offered" } | { state: "asked"; by: string } | undefined;
  /** The action that it takes back. */
  undoes?: string | undefined;
  /** Of what is done and can be taken back: whether that is offered, who asked for it, or which action or call did it. */
  undo?: { state: "offered" } | { state: "asked" | "undone" | "unknown"; by: string } | undefined;
}

/** Everything that an incident's card shows, from the journal of the thread that it was opened in. */
export interface IncidentCard {
  id: string;
  title: string;
  severity: Severity | undefined;
  status: IncidentStatus;
  services: readonly string[];
  impact: string | undefined;
  cause: string | undefined;
  /** How sure the cause is. */
  certainty?: "suspected" | "likely" | "confirmed" | undefined;
  /** Who does what. */
  roles?: readonly { role: string; name: string }[];
  /** Those that are open. */
  followUps?: readonly { name: string; text: string; owner?: string; due?: string }[];
  /** Ms since 1970. */
  startedAt: number;
  mitigatedAt?: number | undefined;
  resolvedAt: number | undefined;
  /** Who opened it. */
  by: string;
  /** The newest that was said of it, oldest first. */
  timeline: readonly { at: number; by: string; text: string; link?: string }[];
}

/** Everything that the message of a group of alerts shows. All texts are their system's words. */
export interface AlertCard {
  /** As its buttons name it. */
  id: string;
  name: string;
  /** Of the most urgent, as its system says it. */
  severity: string | undefined;
  /** 0: it only tells. 3: as urgent as can be. */
  urgency: number;
  /** How many of them stand how. */
  firing: number;
  acknowledged: number;
  resolved: number;
  /** How often they were told of, and when last. Times are ms since 1970. */
  told: number;
  toldAt: number;
  startedAt: number;
  /** When the last of them was over. */
  overAt: number | undefined;
  /** How often they came back after all were over, and when last. */
  back: { times: number; at: number } | undefined;
  summary: string | undefined;
  description: string | undefined;
  /** Labels that say what it is about, each with its values, and how many more values there are. */
  where: readonly { label: string; values: readonly string[]; more: number }[];
  /** Names of alerts that joined it, and what they share, such as `service=checkout`. */
  folded: readonly string[];
  shared: string | undefined;
  /** Alerts that are not told one by one. */
  more: number;
  /** Where people look at it, in the system that sent it. `isKnown`: it leads to a system that may be clicked; others are copied. */
  links: readonly { label: string; url: string; isKnown: boolean }[];
  /** The incident that is open in the thread. */
  incident: string | undefined;
  /** When the thread heard of it first. */
  heardAt: number;
  /** All services that are concerned. */
  services: readonly string[];
  /** What a silence of exactly these would match; undefined: none is offered. */
  silence: readonly string[] | undefined;
  /** What silences that were made here hide; else the newest one that has ended. */
  silenced: AlertSilence | undefined;
  /** It is over and back again and again: so often since then. */
  flaps: { turns: number; since: number } | undefined;
}

export interface AlertSilence {
  /** When the first of what hides them ends, ms since 1970. */
  until: number;
  /** When the newest ended; undefined: some hold. */
  endedAt: number | undefined;
  /** All that stand are hidden. */
  isAll: boolean;
  /** Who asked for them, and who else approved them. */
  by: readonly string[];
  approvedBy: readonly string[];
  /** Their system told of them since it ended. */
  isHeardSince: boolean;
}

/** How alerts stand whose thread it is, for who sees only the message that it began with. */
export interface RootCard {
  /** `begunBy`: the delivery that the thread began with, where that was a message of ours. */
  groups: readonly { begunBy: string; card: AlertCard }[];
}

/** Everything that the message of a goal shows. Its texts are encoded. */
export interface GoalCard extends ShownGoal {
  /** As its delivery names it. */
  id: string;
  /** What the next extension adds, and its number; undefined: none is possible. */
  extension: { number: number; estimate: Estimate } | undefined;
}

/** What a thread shows in one message for as long as it lives. */
export type LivingCard =
  | { kind: "goal"; card: GoalCard }
  | { kind: "incident"; card: IncidentCard }
  | { kind: "alerts"; card: AlertCard };

export interface CallResult {
  call: string;
  tool: string;
  args: JsonObject;
  /** What it did, as people say it. */
  doing?: string;
  /** Nobody typed it with these arguments: a button did, or a form. */
  isPressed?: true;
  outcome: Outcome;
  text: string;
  artifacts: ArtifactRef[];
  findings: readonly Finding[];
  /** What it could not see. */
  gaps: readonly Gap[];
  images?: readonly ResultImage[];
  ms: number | undefined;
  /** The action by whose name it can be taken back. */
  undo?: string;
}

/** A model's requests and their tokens, and for how long it and its tools worked; people's time is not in it. */
interface Spent {
  steps: number;
  usage: Usage;
  /** Absent: nobody says. */
  money?: Money;
  workMs: number;
}

/** What the program says itself, and what can be pressed below it. */
export interface Notice {
  kind: "notice";
  text: string;
  /** An action or call whose unknown outcome can be settled from here. */
  settles: string | undefined;
  /** A question that waits: answered by a click on a choice, or in words by who was asked. */
  asks: { call: string; choices: string[] } | undefined;
  /** Open actions that can be withdrawn from here. */
  holds: string[];
  /** Open actions that the person can approve from here. */
  approves?: ActionCard[];
  /** The open action that can be withdrawn from here by somebody who did not ask for it, for everyone. */
  confirms?: string;
  /** The offer to record the thread as an incident, as its buttons name it. */
  offers?: string;
  /** The accounts and groups that are notified of it, where the platform can mention them. */
  mentions?: readonly string[];
}

export type Outgoing =
  | {
      kind: "answer";
      run: string;
      /** `wrapped_up`: a limit was reached; the text offers to go on. */
      status: "completed" | "failed" | "cancelled" | "wrapped_up";
      /** A model's answer is Markdown. It refers to the results as `[T3]`: the one whose call ends in `.t3`. */
      text: string | undefined;
      results: CallResult[];
      /** What was read of what stood above the question. */
      above?: { read: number; isMore: boolean; isOlder: boolean; why?: string };
      /** A model's run, or one of checks: the text is the answer and the results are its evidence. */
      isModelRun: boolean;
      /** Checks made the answer, and no model. */
      byChecks?: true;
      /** Its cards say how it ended, or whoever asked took the question back: no message is left to post. */
      isMoot?: true;
      spent?: Spent;
      /** What the journal has of its changes, as `T4`; `maybe`: nobody knows whether they happened. Whatever the answer says, this is so. */
      changed?: { done: readonly string[]; maybe: readonly string[] };
      /** It can be pressed below it that the bot speaks only when mentioned, or always again. */
      offer?: "quiet" | "listen" | undefined;
      /** It can be pressed below it that the thread is kept as a case of an evaluation. */
      canSave?: true;
      /** It can be pressed below it that another run goes on from there, which may use so much. */
      goesOn?: Estimate;
      /** A goal's, which `run` names: what was wanted, and its thread. */
      goal?: { text: string; key: JournalKey };
      /** Goes along as a file. */
      file?: { name: string; text: string };
      /** Addresses of the text that may be clicked. */
      links?: readonly string[];
    }
  | Notice;

export type Answer = Extract<Outgoing, { kind: "answer" }>;

/** What a person wrote in another place of the thread. */
export interface Quoted {
  name: string;
  /** Where they wrote it: `Slack`. */
  platform: string;
  text: string;
  /** The names of what came with it. */
  files: readonly string[];
}

export interface CallOutput {
  result: CallResult;
  /** The whole text; secrets are removed. */
  text: string;
}

/** What a private message lets its reader press, and the answer that its words introduce: whole, since nothing there opens more. */
export type Offer = Partial<Pick<Notice, "holds" | "approves" | "confirms">> & { answer?: Answer };

/** What work has used of what it may use, for people who watch; helpers' part is in it. */
export interface Meter {
  budget: Budget;
  steps: number;
  /** As budgets count them. */
  tokens: number;
  money: Money;
  workMs: number;
  /** Who let it use more, as they are called. */
  extendedBy: readonly string[];
  /** What it can be given more, and the number of that extension. */
  extension?: { number: number; more: Estimate };
}

/** Disposable: what is being worked on right now. May be dropped. */
export type Progress =
  /** A model is asked for the run's `step`-th time. `meter`: where it is worth a look. */
  | { kind: "thinking"; run: string; step: number; meter?: Meter }
  /** The plan of its work, as it stands now. */
  | { kind: "plan"; run: string; tasks: readonly PlannedTask[] }
  /** People are asked to decide or to answer; until then nothing goes on by itself. */
  | { kind: "waiting"; run: string }
  /** What a model has written so far, whole; the answer replaces it. Empty: nothing of it stands. */
  | { kind: "draft"; run: string; text: string }
  | { kind: "tool_started"; call: string; tool: string; args: JsonObject; doing?: string }
  | { kind: "tool_finished"; call: string; tool: string; outcome: Outcome; ms: number | undefined };
