import { seeded, type Seeded } from "../../core/seeded.ts";
import type {
  Data,
  FakeChannel,
  FakeEphemeral,
  FakeMessage,
  FakeReply,
  FakeSlackOptions,
  FakeStream,
  FakeUser,
  FakeView,
  Ref,
} from "./types.ts";

/** A refusal as the Web API words it: `error`, and what goes beside it. */
export class Refusal extends Error {
  readonly error: string;
  readonly extra: Data;

  constructor(error: string, extra: Data = {}) {
    super(error);
    this.error = error;
    this.extra = extra;
  }
}

/** `invalid_arguments` and Slack's way of saying which. */
export function invalid(...problems: string[]): Refusal {
  const messages = problems.map((problem) => `[ERROR] ${problem}`);
  return new Refusal("invalid_arguments", { response_metadata: { messages } });
}

export interface FakeUpload {
  readonly id: string;
  readonly name: string;
  readonly mimetype: string;
  readonly content: Uint8Array;
  readonly owner: string;
}

export type Settings = Required<Omit<FakeSlackOptions, "team">>;

/** Everything the fake Slack knows. The modules beside this one read and change it; it decides nothing by itself. */
export interface SharedFile {
  readonly channel: string;
  readonly thread: string | undefined;
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface World {
  readonly settings: Settings;
  readonly random: Seeded;
  readonly team: {
    readonly id: string;
    readonly domain: string;
    readonly name: string;
    url: string;
  };
  readonly app: { readonly id: string; readonly botId: string };
  readonly bot: FakeUser;
  readonly users: Map<string, FakeUser>;
  readonly channels: Map<string, FakeChannel>;
  readonly groups: Map<string, string[]>;
  readonly messages: FakeMessage[];
  readonly ephemerals: FakeEphemeral[];
  readonly views: FakeView[];
  /** Home tabs, by person. */
  readonly homes: Map<string, Data>;
  readonly replies: FakeReply[];
  /** By their paths: for whom, since when, how often used. */
  readonly responseUrls: Map<string, { user: string; at: number; uses: number }>;
  readonly triggers: Map<string, { user: string; expired: boolean; used: boolean }>;
  readonly uploads: Map<string, FakeUpload>;
  /** Files that the app brings; `looks`: how often they were asked about since they were complete. */
  /** Files that the app put into channels and threads. */
  readonly shared: SharedFile[];
  readonly incoming: Map<
    string,
    { name: string; length: number; bytes: Uint8Array | undefined; looks: number | undefined }
  >;
  /** Statuses, by channel and thread. */
  readonly sessions: Map<string, string>;
  /** Titles of sessions, by the same. */
  readonly titles: Map<string, string>;
  /** The words of statuses, by the same. */
  readonly statusLines: Map<string, { text: string; at: number }>;
  /** Streams, by channel and message, and those that the app ended, in order. */
  readonly streams: Map<string, FakeStream>;
  readonly stopped: string[];
  /** The bot's reactions, by channel and message. */
  readonly reactions: Map<string, Set<string>>;
  /** People's, by the same: each emoji's users. */
  readonly marks: Map<string, Map<string, string[]>>;
  /** Mentions that notified people when they were written. */
  readonly pings: { ts: string; what: string }[];
  /** `http://127.0.0.1:PORT`, once it listens. */
  origin: string;
  /** Hands an event to the app, if it is subscribed and may have it. */
  emit(event: Data): void;
  /** A timestamp that nothing had before. */
  nextTs(): string;
  nextId(prefix: string): string;
}

/** Every scope that a method or an event of this fake asks for. */
const ALL_SCOPES = [
  "app_mentions:read",
  ...["channels", "groups", "im", "mpim"].flatMap((kind) => [`${kind}:history`, `${kind}:read`]),
  "chat:write",
  "commands",
  "files:read",
  "files:write",
  "reactions:read",
  "reactions:write",
  "usergroups:read",
  "users:read",
];

const ALL_EVENTS = [
  "app_mention",
  "message.channels",
  "message.groups",
  "message.im",
  "message.mpim",
  "agent_session_stopped",
  "app_home_opened",
  "member_joined_channel",
  "reaction_added",
  "reaction_removed",
];

const HOME = { id: "T0HOME", domain: "home", name: "Home" };

export function createWorld(options: FakeSlackOptions): World {
  let micros = 0;
  const { team: named = HOME, ...set } = options;
  const team = { ...named, url: `https://${named.domain}.slack.com/` };
  const settings: Settings = {
    scopes: ALL_SCOPES,
    events: ALL_EVENTS,
    retryDelaysMs: [10, 50, 200],
    ackWithinMs: 3_000,
    shuffle: { copies: 1, seed: 1 },
    latencyMs: 0,
    home: true,
    agent: true,
    streamMs: 300_000,
    seed: 1,
    ...set,
  };
  let ids = 0;
  const bot: FakeUser = {
    // Each workspace has a bot of its own.
    id: team.id === HOME.id ? "U0BOT" : `U0BOT${team.id}`,
    name: "watchkeeper",
    teamId: team.id,
    tz: undefined,
    standing: "bot",
  };
  return {
    settings,
    random: seeded(settings.seed),
    team,
    app: { id: "A0APP", botId: "B0BOT" },
    bot,
    users: new Map([[bot.id, bot]]),
    channels: new Map(),
    groups: new Map(),
    messages: [],
    ephemerals: [],
    views: [],
    titles: new Map(),
    homes: new Map(),
    replies: [],
    responseUrls: new Map(),
    triggers: new Map(),
    uploads: new Map(),
    shared: [],
    incoming: new Map(),
    sessions: new Map(),
    statusLines: new Map(),
    streams: new Map(),
    stopped: [],
    reactions: new Map(),
    marks: new Map(),
    pings: [],
    origin: "",
    emit: () => {},
    nextTs() {
      micros = Math.max(micros + 1, Date.now() * 1_000);
      return `${Math.floor(micros / 1e6)}.${String(micros % 1e6).padStart(6, "0")}`;
    },
    nextId: (prefix) => `${prefix}${(++ids).toString(36).toUpperCase().padStart(6, "0")}`,
  };
}

export function idOf(ref: Ref): string {
  return typeof ref === "string" ? ref : ref.id;
}

/** What scopes and events call a channel's kind. */
export const PLURAL = { channel: "channels", group: "groups", im: "im", mpim: "mpim" } as const;

/** @throws Refusal missing_scope when the bot's token has none of these */
export function requireScope(world: World, ...anyOf: string[]): void {
  if (anyOf.some((scope) => world.settings.scopes.includes(scope))) return;
  throw new Refusal("missing_scope", {
    needed: anyOf.join(","),
    provided: world.settings.scopes.join(","),
  });
}

/** The channel as the bot may see it: of a private one it is not in, it does not learn that it exists. */
export function visibleChannel(world: World, id: string | undefined): FakeChannel {
  const channel = id === undefined ? undefined : world.channels.get(id);
  if (channel === undefined) throw new Refusal("channel_not_found");
  if (channel.kind !== "channel" && !channel.members.has(world.bot.id)) {
    throw new Refusal("channel_not_found");
  }
  return channel;
}

/** The channel when the bot may write to it. A user's id stands for the direct messages with them, as in Slack. */
export function writableChannel(world: World, id: string | undefined): FakeChannel {
  const user = id === undefined ? undefined : world.users.get(id);
  if (user !== undefined) {
    if (user.standing === "bot") throw new Refusal("cannot_dm_bot");
    if (user.standing === "deactivated") throw new Refusal("user_disabled");
    return directMessages(world, user);
  }
  const channel = visibleChannel(world, id);
  if (channel.archived) throw new Refusal("is_archived");
  if (!channel.members.has(world.bot.id)) throw new Refusal("not_in_channel");
  return channel;
}

export function directMessages(world: World, user: FakeUser): FakeChannel {
  for (const channel of world.channels.values()) {
    if (channel.kind === "im" && channel.members.has(user.id)) return channel;
  }
  const channel: FakeChannel = {
    id: world.nextId("D"),
    name: "directmessage",
    kind: "im",
    members: new Set([user.id, world.bot.id]),
    archived: false,
  };
  world.channels.set(channel.id, channel);
  return channel;
}

export function findMessage(world: World, channel: string, ts: string): FakeMessage | undefined {
  return world.messages.find((message) => message.channel === channel && message.ts === ts);
}

/** Slack closes a stream some 5 min after its start (python-slack-sdk issue 1859): then it takes nothing, not even its end. */
export function isStreaming(world: World, { channel, ts }: FakeMessage): boolean {
  const stream = world.streams.get(`${channel} ${ts}`);
  if (stream === undefined || stream.end !== undefined) return false;
  return Date.now() - stream.at < world.settings.streamMs;
}

/** The root and its replies, in order. */
export function threadOf(world: World, channel: string, root: string): FakeMessage[] {
  return world.messages.filter(
    (message) => message.channel === channel && (message.ts === root || message.thread_ts === root),
  );
}

/** Slack names blocks that come without a name. */
export function withBlockIds(world: World, blocks: Data[]): Data[] {
  return blocks.map((block) => ({ ...block, block_id: block["block_id"] ?? world.nextId("b") }));
}

/** The message as the API and events show it. Metadata only where it is asked for. */
export function shownMessage(world: World, message: FakeMessage, metadata = false): Data {
  const { channel, metadata: kept, ...shown } = message;
  const data: Data = { ...shown };
  const stream = world.streams.get(`${channel} ${message.ts}`);
  if (stream !== undefined)
    data["streaming_state"] = stream.end === undefined ? "in_progress" : "completed";
  const marks = [...(world.marks.get(`${channel} ${message.ts}`) ?? [])];
  if (marks.length > 0)
    data["reactions"] = marks.map(([name, users]) => ({ name, users, count: users.length }));
  if (metadata && kept !== undefined) data["metadata"] = kept;
  const replies = world.messages.filter(
    (other) => other.channel === channel && other.thread_ts === message.ts && other !== message,
  );
  const last = replies.at(-1);
  if (message.thread_ts === undefined && last !== undefined) {
    Object.assign(data, {
      thread_ts: message.ts,
      reply_count: replies.length,
      reply_users_count: new Set(replies.map((reply) => reply.user)).size,
      latest_reply: last.ts,
      subscribed: true,
    });
  }
  return data;
}
