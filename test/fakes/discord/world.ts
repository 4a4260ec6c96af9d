/** What exists: people, places, messages. Nothing here says anything to anybody. */

export interface FakeUser {
  readonly id: string;
  readonly name: string;
  readonly bot: boolean;
  /** Takes no direct messages: 50007. */
  refusesDms: boolean;
}

export interface FakeRole {
  readonly id: string;
  readonly guildId: string;
  readonly name: string;
  permissions: bigint;
  /** Discord made it for this bot. */
  readonly botId?: string;
}

export interface FakeMember {
  readonly user: FakeUser;
  readonly roles: Set<string>;
  /** Has not passed membership screening yet. */
  pending: boolean;
  readonly joinedAt: number;
}

export interface FakeGuild {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly roles: Map<string, FakeRole>;
  readonly members: Map<string, FakeMember>;
}

interface Overwrite {
  /** A role's or a user's id. */
  readonly id: string;
  readonly of: "role" | "member";
  allow: bigint;
  deny: bigint;
}

export const CHANNEL_TYPES = {
  text: 0,
  dm: 1,
  publicThread: 11,
  privateThread: 12,
  forum: 15,
} as const;

export interface FakeThread {
  readonly ownerId: string;
  readonly parentId: string;
  readonly createdAt: number;
  readonly members: Set<string>;
  archived: boolean;
  archivedAt: number;
  locked: boolean;
  autoArchiveMinutes: number;
  messageCount: number;
}

export interface FakeChannel {
  readonly id: string;
  readonly type: (typeof CHANNEL_TYPES)[keyof typeof CHANNEL_TYPES];
  /** None of a direct message. */
  readonly guildId: string | undefined;
  name: string;
  readonly overwrites: Map<string, Overwrite>;
  /** The person a direct message is with. */
  readonly recipient: FakeUser | undefined;
  readonly thread: FakeThread | undefined;
  /** Oldest first; ephemeral messages are not in it. */
  readonly messages: Map<string, FakeMessage>;
}

export interface FakeAttachment {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly url: string;
}

/** A file as it is sent. */
export type FakeUpload = Pick<FakeAttachment, "name" | "type" | "bytes">;

/** A JSON object as it came over the wire. */
export type Body = Record<string, unknown>;

/** A text of a body's; empty when there is none. */
export function textIn(body: Body, key: string): string {
  const value = body[key];
  return typeof value === "string" ? value : "";
}

export const MESSAGE_TYPES = { default: 0, join: 7, reply: 19, threadStarter: 21 } as const;

export interface FakeMessage {
  readonly id: string;
  readonly channelId: string;
  readonly author: FakeUser;
  readonly type: number;
  readonly createdAt: number;
  readonly webhookId: string | undefined;
  readonly nonce: string | number | undefined;
  /** The message that this one answers, or points to. */
  readonly reference: { channelId: string; messageId: string } | undefined;
  content: string;
  components: Body[];
  /** Only bots and webhooks bring any; people's come from links. */
  embeds: Body[];
  /** Of a forwarded message: what it was when it was forwarded. */
  readonly snapshots: readonly Body[];
  attachments: FakeAttachment[];
  flags: number;
  /** Who is named in it, by id; a reply names whom it answers. */
  mentions: { users: string[]; roles: string[]; everyone: boolean };
  /** People's: each emoji's users. */
  readonly marks: Map<string, Set<FakeUser>>;
  editedAt: number | undefined;
  /** How often it was edited. */
  edits: number;
}

/** Milliseconds since 1970 at which Discord's ids begin. */
const EPOCH = 1_420_070_400_000;

/** Ids like Discord's: the time in the upper bits, strictly increasing, 19 digits. */
function createSnowflakes(): () => string {
  let last = 0n;
  return () => {
    const next = BigInt(Date.now() - EPOCH) << 22n;
    last = next > last ? next : last + 1n;
    return last.toString();
  };
}

export interface World {
  readonly newId: () => string;
  readonly bot: FakeUser;
  readonly applicationId: string;
  readonly users: Map<string, FakeUser>;
  readonly guilds: Map<string, FakeGuild>;
  readonly channels: Map<string, FakeChannel>;
  /** All that stand, of all channels. */
  readonly messages: Map<string, FakeMessage>;
  readonly files: Map<string, FakeAttachment>;
}

export function createWorld(botName: string): World {
  const newId = createSnowflakes();
  const bot: FakeUser = { id: newId(), name: botName, bot: true, refusesDms: true };
  return {
    newId,
    bot,
    applicationId: bot.id,
    users: new Map([[bot.id, bot]]),
    guilds: new Map(),
    channels: new Map(),
    messages: new Map(),
    files: new Map(),
  };
}

/** The direct message with a person, made if there was none. */
export function dmWith(world: World, user: FakeUser): FakeChannel {
  for (const channel of world.channels.values()) {
    if (channel.recipient === user) return channel;
  }
  const channel: FakeChannel = {
    id: world.newId(),
    type: CHANNEL_TYPES.dm,
    guildId: undefined,
    name: user.name,
    overwrites: new Map(),
    recipient: user,
    thread: undefined,
    messages: new Map(),
  };
  world.channels.set(channel.id, channel);
  return channel;
}
