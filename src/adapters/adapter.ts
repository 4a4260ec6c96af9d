import type { People } from "../core/people.ts";
import type { HttpRoute } from "../core/http-route.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { Overview } from "./overview.ts";
import type { AlertInbox, Inbox } from "./inbox.ts";
import type { Queries } from "./queries.ts";
import type { Notice } from "./shown.ts";
import type { MessageRef, Delivery, View } from "./view.ts";

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
  /**
   * People who are of none of its tenants read the channel along, such as another company's: it is a private place, which shows what
   * belongs to it and nothing of elsewhere. Left out where there is no such channel. May throw as `people`.
   */
  hasOutsiders?(key: JournalKey): Promise<boolean>;
  /** What people call the place that the thread is in, or a channel, such as `#ops`; undefined where it has no name. May throw. */
  placeName?(key: JournalKey): Promise<string | undefined>;
  /** The channel that the thread is in, such as `slack:T1:C1`; a place without channels is its own. May throw as `people`. */
  channel(key: JournalKey): Promise<string>;
  /** The thread's address for people, or undefined where threads have none. */
  link(key: JournalKey): string | undefined;
  /** When a message of the thread was said and its address for people, by its post; undefined for no post of this platform. Left out where messages have neither. */
  locate?(key: JournalKey, post: string): { at: number; link: string } | undefined;
  /**
   * Says it in a channel itself, named as by `channel`, in a message of its own. Left out where there are no channels.
   * @throws as `View.post`
   */
  announce?(channel: string, notice: Notice, delivery: Delivery): Promise<MessageRef>;
  /** Whether what people write arrives in this process now. Left out: it does. */
  isUp?(): boolean;
  /** What `status` says of this process's connection, a line each. Left out, or none, where there is nothing to know. */
  about?(): string[];
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
  /** Left out: no bot's message is an alert. */
  alerts?: AlertInbox;
  /**
   * Takes an event that the platform wants acknowledged; no work is begun meanwhile, for at most a second. Default: nothing waits
   * for it.
   */
  receive?<T>(take: () => Promise<T>): Promise<T>;
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

export interface OpenChannel {
  name: string | undefined;
  /** Everybody who can reach the bot may read it. */
  isPublic: boolean;
  /** A full member who is in it. @throws what the platform throws */
  has(account: string): Promise<boolean>;
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
  isUp(): boolean;
  /** A channel, named as by `Adapter.channel`, in which a thread can be begun. @throws BotError PLATFORM_REFUSED in any other, else as `open` */
  channelAt(channel: string): Promise<OpenChannel>;
  /**
   * Begins a thread in such a channel with a message of ours that says this. What an earlier attempt at the same delivery began
   * is found.
   * @throws BotError PLATFORM_REFUSED when the bot may not write there, PLATFORM_UNREACHABLE, PLATFORM_RATE_LIMITED
   */
  open(channel: string, text: string, delivery: Delivery): Promise<JournalKey>;
  /**
   * Sees to it that the thread of somebody's message in such a channel is there; false where the message is gone. Left out where
   * threads need not be begun. @throws as `open`
   */
  beneath?(channel: string, thread: JournalKey, name: string): Promise<boolean>;
  /**
   * What is connected and what its settings lack, a sentence each; for `doctor`. `kept`: what `Tenants` has of this
   * platform. @throws as `start`
   */
  examine(kept?: string, vault?: Vault): Promise<PlatformFinding[]>;
  /** Why the bot can say nothing in a channel that the configuration names; undefined: it can. @throws as `start` */
  examineChannel(channel: string, vault?: Vault): Promise<string | undefined>;
}
