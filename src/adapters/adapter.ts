import type { People } from "../core/people.ts";
import type { FileType, Usage } from "../core/block.ts";
import type {
  Address,
  ArtifactRef,
  Actor,
  Choice,
  Effect,
  JsonObject,
  Outcome,
  Preview,
  ResultImage,
  Severity,
  UnreadFile,
} from "../core/entry.ts";
import type { CheckedEdit, Edit, EditForm } from "../core/edit.ts";
import type { Finding, Gap } from "../core/finding.ts";
import type { HttpRoute } from "../core/http-route.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { Overview } from "./overview.ts";

/** What an adapter saw: a typed text, a click on a card, a Stop. The inbox reads typed commands out of texts. */
export type Inbound =
  /** `pasted`: some of it was not typed by the actor, so it may be a message or a command and never decides anything. */
  | {
      kind: "text";
      actor: Actor;
      text: string;
      files?: InboundFile[];
      /** Files that came with it and cannot be shown to the model: the thread is told. */
      unread?: UnreadFile[];
      pasted?: boolean;
      /** It only asks that what follows be a conversation of its own (`Queries.beginnings`). */
      begins?: true;
      /** Whom it is to; without it, the bot. */
      address?: Address;
      /** A bot, app or webhook that the configuration lists wrote it: it is read as plain words and instructs nobody. */
      app?: true;
    }
  | {
      kind: "click";
      actor: Actor;
      action: string;
      revision: number;
      choice: Choice;
      via: "button" | "typed";
      /** How the digest on the card begins, `digestStart`; without it a pressed Approve does not count. */
      digest?: string;
    }
  /** `run`: that one alone; without it everything. */
  | { kind: "stop"; actor: Actor; run?: string }
  /** The author changed a message that was posted as `of`: its text now. */
  | { kind: "edited"; actor: Actor; of: string; text: string; address?: Address }
  | { kind: "removed"; of: string }
  | (Rating & { actor: Actor });

/** Whether the answer of a run helped somebody, and why not. */
export interface Rating {
  kind: "feedback";
  run: string;
  helpful: boolean;
  reason?: string;
}

/** A click, without who made it. */
export type Click = Omit<Extract<Inbound, { kind: "click" }>, "actor">;

/** A file that came with a text, for the model to see. */
export interface InboundFile {
  name: string;
  mediaType: FileType;
  bytes: Uint8Array;
}

/** All that an adapter may write. Durable when it returns, so acknowledge the platform's event only then. */
export interface Inbox {
  /** `id` is the event's own: the same event again writes nothing. @throws BotError STORE_UNAVAILABLE, STORE_FULL */
  post(key: JournalKey, id: string, inbound: Inbound): Promise<void>;
}

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
  status: "open" | "resolved";
  services: readonly string[];
  impact: string | undefined;
  cause: string | undefined;
  /** Ms since 1970. */
  startedAt: number;
  resolvedAt: number | undefined;
  /** Who opened it. */
  by: string;
  /** The newest that was said of it, oldest first. */
  timeline: readonly { at: number; by: string; text: string }[];
}

export interface CallResult {
  call: string;
  tool: string;
  args: JsonObject;
  /** What it did, as people say it. */
  doing?: string;
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
      /** A model's run: the text is the answer and the results are its evidence. */
      isModelRun: boolean;
      spent?: Spent;
      /** It can be pressed below it that the bot speaks only when mentioned, or always again. */
      offer?: "quiet" | "listen" | undefined;
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

/** What a private message lets its reader press. */
export type Offer = Pick<Notice, "holds" | "approves" | "confirms">;

/** Names a message on its platform for as long as it exists; the view that made it can change it or take it back. */
export type MessageRef = string;

/** A delivery. Which message it is, and whether it may be there already. */
export interface Delivery {
  /** The same in every attempt, also by another process, and of no other message of the thread. At most 200 characters. */
  id: string;
  /** An earlier attempt may have come through: look for its message first, and return that one. */
  isRetry: boolean;
  /** Nobody is notified of it, where the platform has that. */
  isQuiet?: true;
  /** The thread's channel shows it too, where the platform has that; only for what the program says by itself. */
  isBroadcast?: true;
  /** What an image of the message's results holds. May throw: then it is told in words. */
  readArtifact?(id: string): Promise<Uint8Array>;
  /** Of a run's progress: its Stop button stops that run. */
  run?: string;
  /** Of a run's progress: the account that asked. */
  asker?: string;
  /**
   * The delivery that may have opened progress for this answer, in a message that nobody recorded: look for that one too,
   * and delete it.
   */
  orphan?: string;
}

/** Disposable: what is being worked on right now. May be dropped. */
export type Progress =
  /** A model is asked for the run's `step`-th time. */
  | { kind: "thinking"; run: string; step: number }
  /** People are asked to decide or to answer; until then nothing goes on by itself. */
  | { kind: "waiting"; run: string }
  /** What a model has written so far, whole; the answer replaces it. Empty: nothing of it stands. */
  | { kind: "draft"; run: string; text: string }
  | { kind: "tool_started"; call: string; tool: string; args: JsonObject; doing?: string }
  | { kind: "tool_finished"; call: string; tool: string; outcome: Outcome; ms: number | undefined };

/** A message of other people, bots or apps as the platform shows it; as it came, nothing is encoded. */
export interface EarlierMessage {
  /** The id that a post of it has. */
  id: string;
  at: number;
  name: string;
  /** The person who wrote it; undefined: a bot or an app. */
  account: string | undefined;
  text: string;
  /** What a person's message carries of others' words: a forwarded message, a link's preview. */
  attached?: string | undefined;
  files?: string[];
  /** It stands in the channel, not in the thread, and the question does not reply to it: its author had no part in this. */
  around?: true;
}

export interface Earlier {
  /** Oldest first, without the bot's own. */
  messages: EarlierMessage[];
  /** There are more before them. */
  older?: boolean;
  /** Why not everything could be read, in words for people: what came is used. */
  why?: string;
}

/** How many messages are read at once: in a thread, with the one that it begins with; and in a channel. */
export const MAX_EARLIER = { thread: 50, channel: 15 } as const;

/**
 * One place a thread is shown. Texts come encoded for display (`encodeText`): control characters are gone, secrets are
 * removed. Each call returns once the platform has it, or throws; the outbox repeats it later.
 */
export interface View {
  /**
   * Posts the message in which people see a run's progress, until its answer comes and this goes. Left out where progress
   * needs no message. `soFar`: the calls of the run until now.
   */
  openProgress?(delivery: Delivery, soFar: readonly Progress[]): Promise<MessageRef>;
  /** `opened`: the run's message by `openProgress`, perhaps of another process; without one the update may be dropped. */
  progress(update: Progress, opened?: MessageRef): void;
  /** Always a new message, below what stands there: people are notified of nothing else. */
  post(message: Outgoing, delivery: Delivery): Promise<MessageRef>;
  /** To one person only, with what they can press. */
  postPrivately(account: string, text: string, offer?: Offer): Promise<MessageRef>;
  /** Edits a notice, also one to a single person. Undefined: nothing of it holds any more, so it is deleted where it can be. */
  updateNotice(ref: MessageRef, notice: Notice | undefined): Promise<void>;
  postCard(card: ActionCard, delivery: Delivery): Promise<MessageRef>;
  updateCard(ref: MessageRef, card: ActionCard): Promise<void>;
  /** An incident's card, one for as long as the thread lives. Left out where nobody looks. */
  postIncident?(card: IncidentCard, delivery: Delivery): Promise<MessageRef>;
  /** Notifies nobody. */
  updateIncident?(ref: MessageRef, card: IncidentCard): Promise<void>;
  /**
   * Reads what stands above the message that was posted as `before` and, if given, below the one posted as `after`: of its
   * thread, or of the channel where it begins one. Of `before` itself only what it carries of others' words. The newest
   * `MAX_EARLIER` are kept. Takes a few seconds at most and never throws. Left out where nothing can stand above.
   */
  earlier?(before: string, after?: string): Promise<Earlier>;
  /** The message's address for people. Left out where messages have none: then no thread is summed up either. */
  linkTo?(ref: MessageRef): string | undefined;
  /**
   * Shows what somebody wrote in another place of the thread, as theirs and not as the bot's; nothing in it pings or links.
   * `shown`: it stands there in that message, which is edited. Left out where a thread has no other place.
   */
  quote?(said: Quoted, delivery: Delivery, shown?: MessageRef): Promise<MessageRef>;
  /** Deletes a message that another worker delivered as well. */
  delete(ref: MessageRef): Promise<void>;
}

/** One platform. It translates, nothing else. */
export interface Adapter {
  /** The key prefix it serves, such as `terminal`. */
  readonly transport: string;
  readonly people: People;
  /** True where one person asks and decides: the requester may approve. */
  readonly singleOperator: boolean;
  /** True where only the process in which a thread is open works on it. Default: any may. */
  readonly isLocal?: boolean;
  /** Undefined when this process cannot show that journal, as before the platform is connected. */
  view(key: JournalKey): View | undefined;
  /**
   * Who may read along a thread, or in a channel: undefined for everyone who can reach the bot, else the name of the private place, such as
   * `slack:T1:C7`, the same for all its threads.
   */
  audience(key: JournalKey): Promise<string | undefined>;
  /**
   * The tenants whose public records may be shown to an account in a thread: its own (`tenantOf`), or for a direct message
   * that belongs to none those that the account is a member of. `all`: to whoever has the store anyway.
   */
  tenants(key: JournalKey, account: string): Promise<readonly string[] | "all">;
  /** What people call the place that the thread is in, or a channel, such as `#ops`; undefined where it has no name. May throw. */
  placeName?(key: JournalKey): Promise<string | undefined>;
  /** The channel that the thread is in, such as `slack:T1:C1`; a place without channels is its own. May throw as `people`. */
  channel(key: JournalKey): Promise<string>;
  /** The thread's address for people, or undefined where threads have none. */
  link(key: JournalKey): string | undefined;
  /**
   * Says it in a channel itself, named as by `channel`, in a message of its own. Left out where there are no channels.
   * @throws as `View.post`
   */
  announce?(channel: string, notice: Notice, delivery: Delivery): Promise<MessageRef>;
  /** Takes no more events and ends the connections. What was taken is in the journal. */
  stop?(): Promise<void>;
}

/** Whom a platform serves where no configuration says so: settled once, for every process of the store and for ever. */
export interface Tenants {
  /** Such as `discord:1122`; undefined: nothing is settled yet. @throws BotError STORE_UNAVAILABLE */
  kept(transport: string): Promise<string | undefined>;
  /** Settles it unless it is; returns what is settled. @throws BotError STORE_UNAVAILABLE, STORE_FULL */
  keep(transport: string, tenant: string): Promise<string>;
}

/** What a platform keeps encrypted in the store, such as the tokens of workspaces: of each name the newest version. */
export interface Vault {
  /** Of what is or was kept. */
  names(prefix: string): Promise<string[]>;
  /** `version` counts the changes; `value` is undefined where there is none any more. @throws BotError CONFIG_INVALID, JOURNAL_ALTERED */
  read(name: string): Promise<{ value: string | undefined; version: number }>;
  /** Puts a value, or none, in the place of that version. False: somebody else did before. */
  write(name: string, value: string | undefined, version: number): Promise<boolean>;
  /** Has the work done by one process at a time, for at most 25 s. */
  exclusive<T>(
    name: string,
    outer: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /** True for the first who asks for it, of all processes. It is remembered for weeks. */
  once(what: string): Promise<boolean>;
}

/** What a chat adapter stands in front of. */
export interface ChatParts {
  inbox: Inbox;
  tenants: Tenants;
  queries: Queries;
  overview: Overview;
  /** Left out where a platform keeps nothing. */
  vault?: Vault;
  /** It thanks and says nothing else: nobody answers it, and in a direct message it may get a 👍. */
  isThanks(text: string): boolean;
  /** What a text that the adapter makes of people's words passes before it is shown, such as a thread's name. */
  encode(text: string): string;
}

/** A sentence of `doctor`'s. `weak`: it works, and should not be left so. */
export interface PlatformFinding {
  ok: boolean;
  weak?: true;
  text: string;
}

/** A platform with servers of its own, which send events from `start` until `stop`. */
export interface ChatAdapter extends Adapter {
  /** Where the platform sends its events, for the program's HTTP server; none where it is connected to. */
  readonly routes?: readonly HttpRoute[];
  /**
   * Resolves once events arrive; from then on it reconnects by itself.
   * @throws BotError PLATFORM_REFUSED when the token, its rights or the settings are wrong, PLATFORM_UNREACHABLE
   */
  start(parts: ChatParts): Promise<void>;
  stop(): Promise<void>;
  /**
   * Begins a thread in a channel, named as by `Adapter.channel`, with a message of ours that says this. Every call begins
   * another; one that fails may have left its message there.
   * @throws BotError PLATFORM_REFUSED when the bot may not write there, PLATFORM_UNREACHABLE, PLATFORM_RATE_LIMITED
   */
  open(channel: string, text: string): Promise<JournalKey>;
  /**
   * What is connected and what its settings lack, a sentence each; for `doctor`. `kept`: what `Tenants` has of this
   * platform. @throws as `start`
   */
  examine(kept?: string, vault?: Vault): Promise<PlatformFinding[]>;
}

export interface ThreadSummary {
  key: JournalKey;
  lastAt: number;
  /** What it began with, shortened. */
  title: string;
  openActions: string[];
  /** Questions that wait for a person, by their calls. */
  questions: string[];
  /** Something is owed that needs no person: to be judged, run, written down or shown. */
  open: boolean;
  /** An outcome is unknown, and nobody has said yet what became of it. */
  unsettled: boolean;
  /** Another process may be working on it right now. */
  leased: boolean;
  gaps: ThreadGaps;
}

/** How many of a thread's calls could not see everything, and which permissions and settings would help, the most first. */
export interface ThreadGaps {
  calls: number;
  helps: { help: string; calls: number }[];
}

/** One line of a thread as it is printed when opened again. */
export type HistoryItem =
  | { kind: "said"; name: string; text: string; at: number }
  | { kind: "card"; card: ActionCard; at: number }
  | { kind: "incident"; card: IncidentCard; at: number }
  | { kind: "out"; message: Outgoing; at: number };

/** Read-only views of the journals. */
export interface Queries {
  threads(transport: string): Promise<ThreadSummary[]>;
  /** Undefined for a thread in which nothing was ever said. */
  thread(key: JournalKey): Promise<ThreadSummary | undefined>;
  /** Something was said in the thread. Cheap: asked of every message of a channel. */
  isKnown(key: JournalKey): Promise<boolean>;
  /** Threads whose keys begin so and that have entries since then, the newest first. Reads none of them. */
  recent(prefix: string, since: number): Promise<JournalKey[]>;
  /** This message, or typed command, is in the thread's journal. */
  isSaid(key: JournalKey, post: string): Promise<boolean>;
  /** The posts in it that began another conversation (`Inbound.begins`), in order. */
  beginnings(key: JournalKey): Promise<readonly string[]>;
  /** As `isSaid`, or it was read as a click or a Stop. */
  isPosted(key: JournalKey, post: string): Promise<boolean>;
  /** The card of an incident that was opened in the thread; the newest open one where none is named. */
  incident(key: JournalKey, id?: string): Promise<IncidentCard | undefined>;
  /** Undefined when the thread has no such action, or no longer knows it. */
  action(key: JournalKey, action: string): Promise<ActionCard | undefined>;
  /** What a run answered; undefined when the thread has no such run, or it has not ended. */
  answer(key: JournalKey, run: string): Promise<Answer | undefined>;
  /** All that a call returned, where its result is cut too: `r1.t3`, or `t3` for the newest that ends so. Undefined as `answer`. */
  output(key: JournalKey, call: string): Promise<CallOutput | undefined>;
  /** The form in which an action's arguments are edited. Undefined as `action`, and when its tool is gone. */
  editForm(key: JournalKey, action: string): Promise<EditForm | undefined>;
  /** Holds against the tool what was written in the form, before anything is sent. Takes at most about a second. */
  checkEdit(key: JournalKey, edit: Edit): Promise<CheckedEdit>;
  /** The last `limit` things said, every open incident, and every open card. Empty for an unknown thread. */
  history(key: JournalKey, limit: number): Promise<HistoryItem[]>;
  openActions(transport: string): Promise<ActionCard[]>;
  tools(): { name: string; description: string; effect: Effect }[];
}
