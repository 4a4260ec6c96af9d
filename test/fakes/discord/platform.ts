import { INTENTS, type Gateway, type Session } from "./gateway.ts";
import type { MessageBody } from "./message-body.ts";
import { mentionsOf, pingedBy } from "./mentions.ts";
import { channelJson, memberJson, messageEventJson, roleJson } from "./payloads.ts";
import { permissionsIn } from "./permissions.ts";
import {
  MESSAGE_TYPES,
  type Body,
  type FakeAttachment,
  type FakeChannel,
  type FakeGuild,
  type FakeMember,
  type FakeMessage,
  type FakeRole,
  type FakeUser,
  type World,
} from "./world.ts";

/** Real times in milliseconds unless a test makes them shorter. */
export interface Times {
  /** For the first response to an interaction: 3 000. */
  responseMs: number;
  /** For which an interaction's token lives: 900 000. */
  tokenMs: number;
  /** After which a message counts as old, and its edits are limited: 3 600 000. */
  oldMs: number;
  /** Between heartbeats: 41 250. */
  heartbeatMs: number;
  /** For which a nonce is remembered; "a few minutes" in the documentation: 180 000. */
  nonceMs: number;
  /** The window of 5 messages per channel: 5 000. */
  windowMs: number;
}

/** Discord's own. */
export const TIMES: Times = {
  responseMs: 3_000,
  tokenMs: 900_000,
  oldMs: 3_600_000,
  heartbeatMs: 41_250,
  nonceMs: 180_000,
  windowMs: 5_000,
};

/** A mention that notified somebody. */
export interface Ping {
  channelId: string;
  messageId: string;
  /** `everyone`, `here`, or the id of a user or role. */
  target: string;
}

/** The world, and what happens when something in it changes. */
export interface Platform {
  readonly world: World;
  readonly gateway: Gateway;
  readonly times: Times;
  /** "Public Bot" is on. */
  readonly isPublic: boolean;
  /** The application has the intent MessageContent; without it REST blanks texts too. */
  readonly hasContent: boolean;
  readonly hasMembers: boolean;
  readonly oldEdits: number;
  readonly pings: Ping[];
  readonly reactions: { messageId: string; emoji: string }[];
  readonly typing: { channelId: string; at: number }[];
  /** Nonces by author, and the message of each. */
  readonly nonces: Map<string, { messageId: string; until: number }>;
  /** When old messages of a channel were edited. */
  readonly oldEditsAt: Map<string, number[]>;
  readonly origin: () => string;
}

function isVisible(platform: Platform, channel: FakeChannel): boolean {
  return permissionsIn(platform.world, channel, platform.world.bot.id) !== 0n;
}

function hearsMessages(platform: Platform, session: Session, channel: FakeChannel): boolean {
  const intent = channel.guildId === undefined ? INTENTS.directMessages : INTENTS.guildMessages;
  return (session.intents & intent) !== 0 && isVisible(platform, channel);
}

/** MESSAGE_CREATE or MESSAGE_UPDATE to every session that hears the channel; blank to those without MessageContent. */
export function tellMessage(
  platform: Platform,
  event: "MESSAGE_CREATE" | "MESSAGE_UPDATE",
  message: FakeMessage,
): void {
  const channel = platform.world.channels.get(message.channelId);
  if (channel === undefined) return;
  platform.gateway.dispatch(event, (session) =>
    hearsMessages(platform, session, channel)
      ? messageEventJson(platform.world, message, (session.intents & INTENTS.messageContent) !== 0)
      : undefined,
  );
}

/** To every session that hears of reactions in the channel. */
export function tellMark(
  platform: Platform,
  event: "MESSAGE_REACTION_ADD" | "MESSAGE_REACTION_REMOVE",
  { message, user, emoji }: { message: FakeMessage; user: FakeUser; emoji: string },
): void {
  const { world } = platform;
  const channel = world.channels.get(message.channelId);
  if (channel === undefined) return;
  const { guildId } = channel;
  const intent = guildId === undefined ? INTENTS.directReactions : INTENTS.guildReactions;
  const member =
    guildId === undefined ? undefined : world.guilds.get(guildId)?.members.get(user.id);
  const isAdded = event === "MESSAGE_REACTION_ADD";
  platform.gateway.dispatch(event, (session) =>
    (session.intents & intent) !== 0 && isVisible(platform, channel)
      ? {
          user_id: user.id,
          channel_id: channel.id,
          message_id: message.id,
          ...(guildId !== undefined && { guild_id: guildId }),
          ...(isAdded && member !== undefined && { member: memberJson(member) }),
          ...(isAdded && { message_author_id: message.author.id }),
          emoji: { id: null, name: emoji },
          burst: false,
          type: 0,
        }
      : undefined,
  );
}

/** CHANNEL_* and THREAD_* to sessions that hear of guilds. */
export function tellChannel(
  platform: Platform,
  event: string,
  channel: FakeChannel,
  more: Body = {},
): void {
  if (channel.guildId === undefined) return;
  const hidden = channel.thread !== undefined && !isVisible(platform, channel);
  platform.gateway.dispatch(event, (session) =>
    (session.intents & INTENTS.guilds) === 0 || hidden
      ? undefined
      : { ...channelJson(platform.world, channel), ...more },
  );
}

export function tellRole(platform: Platform, event: string, role: FakeRole): void {
  platform.gateway.dispatch(event, (session) =>
    (session.intents & INTENTS.guilds) === 0
      ? undefined
      : { guild_id: role.guildId, role: roleJson(role) },
  );
}

/** Only those with GuildMembers hear of members. */
export function tellMember(
  platform: Platform,
  event: "GUILD_MEMBER_ADD" | "GUILD_MEMBER_UPDATE" | "GUILD_MEMBER_REMOVE",
  guild: FakeGuild,
  member: FakeMember,
): void {
  platform.gateway.dispatch(event, (session) =>
    (session.intents & INTENTS.guildMembers) === 0 && member.user !== platform.world.bot
      ? undefined
      : { ...memberJson(member), guild_id: guild.id },
  );
}

/** Files as they are kept, each at an address of its own. */
function keepFiles(
  platform: Platform,
  channelId: string,
  uploads: readonly { name: string; type: string; bytes: Uint8Array }[],
): FakeAttachment[] {
  return uploads.map((upload) => {
    const id = platform.world.newId();
    const path = `/attachments/${channelId}/${id}/${encodeURIComponent(upload.name)}`;
    const url = `${platform.origin()}${path}?ex=ffffffff&is=0&hm=${id}`;
    const file: FakeAttachment = { ...upload, id, url };
    platform.world.files.set(path, file);
    return file;
  });
}

/** What a new message is made of. */
export interface Draft {
  author: FakeUser;
  body: Omit<MessageBody, "allowed" | "uploads"> & Partial<Pick<MessageBody, "uploads">>;
  files?: readonly { name: string; type: string; bytes: Uint8Array }[];
  type?: number;
  nonce?: string | number | undefined;
  reference?: FakeMessage["reference"];
  webhookId?: string | undefined;
  /** Flags that a request cannot set. */
  flags?: number;
  embeds?: readonly Body[];
  snapshots?: readonly Body[];
}

/** A message that is not in its channel yet, if it ever will be: ephemeral ones never are. */
export function draftMessage(platform: Platform, channel: FakeChannel, draft: Draft): FakeMessage {
  const { world } = platform;
  const { body } = draft;
  const id = world.newId();
  return {
    id,
    channelId: channel.id,
    author: draft.author,
    type:
      draft.type ?? (draft.reference === undefined ? MESSAGE_TYPES.default : MESSAGE_TYPES.reply),
    createdAt: Date.now(),
    webhookId: draft.webhookId,
    nonce: draft.nonce,
    reference: draft.reference,
    content: body.content,
    components: body.components,
    embeds: [...(draft.embeds ?? [])],
    snapshots: draft.snapshots ?? [],
    attachments: keepFiles(platform, channel.id, draft.files ?? body.uploads ?? []),
    flags: body.flags | (draft.flags ?? 0),
    mentions: mentionsOf(world, body.content, body.components),
    editedAt: undefined,
    edits: 0,
    marks: new Map(),
  };
}

/** Writes down whom a message of the bot's notified. */
export function notePings(
  platform: Platform,
  message: FakeMessage,
  allowed: Body | undefined,
): void {
  for (const target of pingedBy(message, allowed)) {
    platform.pings.push({ channelId: message.channelId, messageId: message.id, target });
  }
}

/** Puts a message into its channel and tells everybody. */
export function publish(platform: Platform, channel: FakeChannel, message: FakeMessage): void {
  channel.messages.set(message.id, message);
  platform.world.messages.set(message.id, message);
  if (channel.thread !== undefined) {
    channel.thread.messageCount += 1;
    channel.thread.members.add(message.author.id);
  }
  tellMessage(platform, "MESSAGE_CREATE", message);
}

/** Changes a message to what an edit made of it. */
export function applyEdit(platform: Platform, message: FakeMessage, body: MessageBody): void {
  message.content = body.content;
  message.components = body.components;
  message.flags = body.flags;
  if (body.uploads !== undefined)
    message.attachments = keepFiles(platform, message.channelId, body.uploads);
  message.mentions = mentionsOf(platform.world, body.content, body.components);
  message.editedAt = Date.now();
  message.edits += 1;
}

export function removeMessage(platform: Platform, message: FakeMessage): void {
  const { world, gateway } = platform;
  const channel = world.channels.get(message.channelId);
  world.messages.delete(message.id);
  channel?.messages.delete(message.id);
  if (channel === undefined) return;
  gateway.dispatch("MESSAGE_DELETE", (session) =>
    hearsMessages(platform, session, channel)
      ? { id: message.id, channel_id: channel.id, guild_id: channel.guildId }
      : undefined,
  );
}
