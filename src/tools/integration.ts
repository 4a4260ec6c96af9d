import type { JsonObject } from "../core/entry.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { SettingsPart } from "../core/settings.ts";
import type { Ledger } from "../incidents/incident.ts";
import type { Skill } from "../skills/skill.ts";
import type { Wrapper } from "./around.ts";
import type { ChangeSource } from "./change.ts";
import type { HostBeat } from "../core/host-beat.ts";
import type { TokenUse } from "../core/token-counters.ts";
import type { Feedback } from "../team/feedback.ts";
import type { Handoff } from "../handoff/handoff.ts";
import type { Period } from "../incidents/period.ts";
import type { Freezes } from "../team/freezes.ts";
import type { Memory } from "../memory/memory.ts";
import type { Network } from "../net/dial.ts";
import type { Secrets } from "../team/secrets.ts";
import type { ToolForms } from "../team/tool-forms.ts";
import type { Launch } from "./process.ts";
import type { Asker, Asking, Tool } from "./tool.ts";

export interface Freezing {
  readonly freezes: Freezes;
  tools(): readonly Tool[];
  hosts(): Promise<HostBeat[]>;
}

/** What shows a thread in a second place. Channels are named by their keys. */
export interface Mirroring {
  /** Where a thread is shown besides its own place. */
  viewsOf(key: JournalKey): Promise<readonly JournalKey[]>;
  /**
   * What people call a channel in which a thread can be begun, whether everybody there may read it, and whether one of these
   * people is in it, by whichever account. @throws BotError PRECHECK_FAILED in any other, or what its platform throws
   */
  describe(channel: JournalKey): Promise<{
    name: string | undefined;
    isPublic: boolean;
    hasAny(accounts: readonly string[]): Promise<boolean>;
  }>;
  /** Begins a thread there with this text, or finds the one that was begun when the thread was last to be shown there. @throws as `describe` */
  open(key: JournalKey, channel: string, text: string): Promise<JournalKey>;
  /** It is a thread of a chat platform that is served here. */
  isChat(key: JournalKey): boolean;
  link(key: JournalKey): string | undefined;
  /** What people call the place of a thread. May throw. */
  nameOf(key: JournalKey): Promise<string | undefined>;
}

/** What waits for a decision. */
export interface Approvals {
  /** In words, a line each: the thread's own, then others' that whoever reads the thread may see. */
  list(asker: Asker): Promise<string>;
}

/** Threads of the past. */
export interface PastThreads {
  /**
   * Those with all the words that whoever reads the asker's thread may see, the best match first.
   * @throws BotError NOT_AVAILABLE where the asker may not look at others
   */
  search(text: string, asker: Asker, limit: number): Promise<readonly FoundThread[]>;
}

/** Its texts hold no secrets, and nobody verified them. */
export interface FoundThread {
  /** Its address for people; else its key. */
  where: string;
  /** When it was last written to, ms since 1970. */
  at: number;
  by: string;
  question: string;
  answer: string | undefined;
}

/** What the runs of goals use of their own goal. */
export interface GoalWork {
  /**
   * How many sections the report has, and for how many characters there is room.
   * @throws BotError NOT_AVAILABLE for a call that no run of a goal made
   */
  check(asker: Asker | undefined): Promise<{ sections: number; left: number }>;
  /** What is done of it and what came of that, in words. @throws as `check` */
  completed(asker: Asker | undefined): Promise<string>;
}

/** What happened in a period. */
export interface Handoffs {
  /**
   * As whoever reads the asker's thread may see it.
   * @throws BotError NOT_AVAILABLE where the asker may not look at other threads
   */
  of(period: Period, asker: Asking): Promise<Handoff>;
}

/** Who somebody is to the program. */
export interface WhoIs {
  /** In lines for everybody who reads the thread: it has nothing of others. */
  of(asker: Asker): Promise<string>;
}

/** What the program lends to integrations. */
export interface ToolParts {
  readonly skills: readonly Skill[];
  /** Asked when a call needs it. */
  ledger(): Ledger;
  /** What a variable holds that the settings name (`SettingsPart.variables`). */
  variable(name: string): string;
  /** Of all integrations that are available; the registry fills it in. */
  changeSources?(): Promise<readonly ChangeSource[]>;
  /** What any variable holds that is no setting of the program's own. */
  anyVariable?(name: string): string | undefined;
  /** The forms that tools of other servers may be used in. */
  forms(): ToolForms;
  /** What models used. */
  tokens(): TokenUse;
  /** What people said of answers. */
  feedback(): Feedback;
  /** What writes wait for, and what else has a name that they can wait for. */
  freezing(): Freezing;
  mirroring(): Mirroring;
  approvals(): Approvals;
  pastThreads(): PastThreads;
  whoIs(): WhoIs;
  goals(): GoalWork;
  handoffs(): Handoffs;
  /** Keeps a thread as a case of an evaluation, and says in which folder. @throws BotError NOT_AVAILABLE */
  saveEval(key: JournalKey, into: string, run?: string): Promise<string>;
  /** What is remembered from thread to thread. */
  memory(): Memory;
  /** The chat platforms that are configured; left out where tools are only listed. */
  readonly platforms?: readonly string[];
  /** What is kept encrypted. */
  secrets(): Secrets;
  /** Starts a program that outlives a call. */
  readonly launch: Launch;
  /** For connections that outlive a call. */
  network(): Network;
  /** Aborted when the program stops: what outlived a call ends then. */
  readonly stopped: AbortSignal;
  /** Tells operators of tools that are not offered, or not as they should be. */
  warn(text: string): void;
}

/** Tools that others change while the program runs, such as people or servers. A tool that was changed is another object. */
export interface LiveTools {
  /** What `problems` are about, such as `pack`. */
  readonly subject: string;
  readonly tools: readonly Tool[];
  /** What is wrong with what was written, and what holds instead. */
  readonly problems: readonly string[];
  /** What the tools are given and no text may show. */
  readonly secrets: readonly { name: string; value: string }[];
  /** Looks again, beside these other tools. True: `tools` are others now. */
  refresh(others: readonly Tool[]): Promise<boolean>;
  /** Gives back what outlived calls. */
  close?(): Promise<void>;
}

/** A read that succeeds when a server can be reached with the rights that were given. */
export interface Proof {
  /** What `doctor` calls it, such as `kubernetes prod`. */
  readonly subject: string;
  readonly tool: string;
  readonly args: JsonObject;
}

/**
 * Tools that belong together, with the settings they need: a folder below `src/tools` and a line in `registry.ts`. Reading the
 * settings, their documentation and what `doctor` says of them follow from `settings`.
 */
export interface Integration<S = unknown> extends SettingsPart<S> {
  /** Its folder's name. */
  readonly name: string;
  /** Why its tools are not offered, such as an address that is not set. Undefined: they are. */
  unavailable?(settings: S, parts: ToolParts): string | undefined | Promise<string | undefined>;
  /**
   * Asked for only while they are available: many tools stand in a module that is loaded then, so that a start without them
   * does not wait for it. A tool keeps the settings that it needs.
   */
  tools(settings: S, parts: ToolParts): readonly Tool[] | Promise<readonly Tool[]>;
  /** Stands around each call of these tools, such as to share a limit of their server's. Default: nothing does. */
  around?(settings: S, parts: ToolParts): Wrapper;
  /** What it knows of changes, for `what_changed`. Asked for as `tools` is. */
  changes?(settings: S, parts: ToolParts): ChangeSource | Promise<ChangeSource>;
  /** Its tools that others change while the program runs: looked at between runs. */
  live?(settings: S, parts: ToolParts): LiveTools | Promise<LiveTools>;
  /** For each server that the settings name the least request that proves it: `doctor` makes them. */
  proofs?(settings: S, parts: ToolParts): readonly Proof[] | Promise<readonly Proof[]>;
}

/** Lets TypeScript infer the type of the settings from their schema. */
export function defineIntegration<S>(integration: Integration<S>): Integration<S> {
  return integration;
}
