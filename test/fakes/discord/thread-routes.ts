import { markThread, messageIn } from "./channel-routes.ts";
import { channelJson, threadMemberJson } from "./payloads.ts";
import { may, PERMISSIONS } from "./permissions.ts";
import { draftMessage, publish, tellChannel, type Platform } from "./platform.ts";
import { channelFor, invalidForm, refusal } from "./refusals.ts";
import type { Answer, Asked, Route } from "./route.ts";
import {
  CHANNEL_TYPES,
  MESSAGE_TYPES,
  type Body,
  type FakeChannel,
  type FakeMessage,
  type FakeThread,
  type FakeUser,
} from "./world.ts";

const ARCHIVE_MINUTES = [60, 1_440, 4_320, 10_080];

function readName(body: Body): string {
  const name = typeof body["name"] === "string" ? body["name"].trim() : "";
  if (name.length >= 1 && name.length <= 100) return name;
  throw invalidForm("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.");
}

function readArchiveMinutes(body: Body, otherwise: number): number {
  const minutes = body["auto_archive_duration"] ?? otherwise;
  if (typeof minutes === "number" && ARCHIVE_MINUTES.includes(minutes)) return minutes;
  const said = "Value must be one of {60, 1440, 4320, 10080}.";
  throw invalidForm("auto_archive_duration", "BASE_TYPE_CHOICES", said);
}

/** Makes a thread and tells of it; from a message its id is that message's. */
export function openThread(
  platform: Platform,
  parent: FakeChannel,
  options: {
    name: string;
    owner: FakeUser;
    archiveMinutes?: number;
    isPrivate?: boolean;
    from?: FakeMessage;
  },
): FakeChannel {
  const { world } = platform;
  const now = Date.now();
  const thread: FakeThread = {
    ownerId: options.owner.id,
    parentId: parent.id,
    createdAt: now,
    members: new Set([options.owner.id]),
    archived: false,
    archivedAt: now,
    locked: false,
    autoArchiveMinutes: options.archiveMinutes ?? 4_320,
    messageCount: 0,
  };
  const channel: FakeChannel = {
    id: options.from?.id ?? world.newId(),
    type: options.isPrivate === true ? CHANNEL_TYPES.privateThread : CHANNEL_TYPES.publicThread,
    guildId: parent.guildId,
    name: options.name,
    overwrites: new Map(),
    recipient: undefined,
    thread,
    messages: new Map(),
  };
  world.channels.set(channel.id, channel);
  tellChannel(platform, "THREAD_CREATE", channel, { newly_created: true });
  if (options.from === undefined) return channel;
  markThread(platform, options.from);
  const pointer = draftMessage(platform, channel, {
    author: options.owner,
    body: { content: "", components: [], flags: 0 },
    type: MESSAGE_TYPES.threadStarter,
    reference: { channelId: parent.id, messageId: options.from.id },
  });
  publish(platform, channel, pointer);
  thread.messageCount = 0;
  return channel;
}

function startFromMessage({ platform, param, body }: Asked): Answer {
  const { world } = platform;
  const parent = channelFor(world, param("channel"));
  if (parent.type !== CHANNEL_TYPES.text) throw refusal("wrongChannelType");
  channelFor(world, parent.id, PERMISSIONS.createPublicThreads);
  const from = messageIn(parent, param("message"));
  if (from.type !== MESSAGE_TYPES.default && from.type !== MESSAGE_TYPES.reply)
    throw refusal("systemMessage");
  const name = readName(body);
  const archiveMinutes = readArchiveMinutes(body, 4_320);
  if (world.channels.has(from.id)) throw refusal("threadExists");
  return channelJson(
    world,
    openThread(platform, parent, { name, owner: world.bot, archiveMinutes, from }),
  );
}

/** The program only unarchives: that takes SendMessagesInThreads, and ManageThreads where a moderator locked it. */
function unarchive(platform: Platform, channel: FakeChannel, thread: FakeThread, body: Body): void {
  const { world } = platform;
  const { manageThreads, sendMessagesInThreads } = PERMISSIONS;
  const other = Object.keys(body).find((key) => key !== "archived" || body[key] !== false);
  if (other !== undefined) throw invalidForm(other, "UNSUPPORTED", "The fake only unarchives");
  if (thread.locked && !may(world, channel, world.bot.id, manageThreads)) {
    throw refusal("missingPermissions");
  }
  channelFor(world, channel.id, sendMessagesInThreads);
  thread.archived = false;
  thread.archivedAt = Date.now();
}

function change({ platform, param, body }: Asked): Answer {
  const channel = channelFor(platform.world, param("channel"));
  // The bot is never given ManageChannels.
  if (channel.thread === undefined) throw refusal("missingPermissions");
  unarchive(platform, channel, channel.thread, body);
  tellChannel(platform, "THREAD_UPDATE", channel);
  return channelJson(platform.world, channel);
}

function threadOf({ platform, param }: Asked): { channel: FakeChannel; thread: FakeThread } {
  const channel = channelFor(platform.world, param("channel"));
  if (channel.thread === undefined) throw refusal("wrongChannelType");
  return { channel, thread: channel.thread };
}

function userIn({ platform, param }: Asked): string {
  return param("user") === "@me" ? platform.world.bot.id : param("user");
}

function memberOf(asked: Asked): Answer {
  const { channel, thread } = threadOf(asked);
  if (!thread.members.has(userIn(asked))) throw refusal("unknownMember");
  return threadMemberJson(channel, thread, userIn(asked));
}

export const THREAD_ROUTES: readonly Route[] = [
  {
    method: "POST",
    pattern: "/channels/:channel/messages/:message/threads",
    status: 201,
    run: startFromMessage,
  },
  { method: "PATCH", pattern: "/channels/:channel", run: change },
  { method: "GET", pattern: "/channels/:channel/thread-members/:user", run: memberOf },
];
