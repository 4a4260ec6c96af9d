import { FLAGS, readEdit, readNewMessage, readNonce } from "./message-body.ts";
import { channelJson, messageJson, userJson } from "./payloads.ts";
import { may, PERMISSIONS } from "./permissions.ts";
import {
  applyEdit,
  draftMessage,
  notePings,
  publish,
  removeMessage,
  tellMessage,
  type Platform,
} from "./platform.ts";
import { channelFor, invalidForm, Refusal, refusal } from "./refusals.ts";
import type { Answer, Asked, Route } from "./route.ts";
import { CHANNEL_TYPES, MESSAGE_TYPES, type FakeChannel, type FakeMessage } from "./world.ts";

export function messageIn(channel: FakeChannel, id: string): FakeMessage {
  const message = channel.messages.get(id);
  if (message === undefined) throw refusal("unknownMessage");
  return message;
}

/** A place the bot may write to now. @throws Refusal 10003, 50001, 50013, 50007, 50278, 50083, 160005 */
function writable(platform: Platform, id: string): FakeChannel {
  const { world } = platform;
  const { sendMessages, sendMessagesInThreads, manageThreads } = PERMISSIONS;
  const place = channelFor(world, id);
  const { thread, recipient } = place;
  if (recipient !== undefined) {
    const guilds = [...world.guilds.values()];
    if (!guilds.some((guild) => guild.members.has(recipient.id))) throw refusal("noMutualGuilds");
    if (recipient.refusesDms) throw refusal("cannotMessageUser");
    return place;
  }
  const channel = channelFor(
    world,
    id,
    thread === undefined ? sendMessages : sendMessagesInThreads,
  );
  if (channel.type === CHANNEL_TYPES.forum) throw refusal("forumChannel");
  if (thread?.archived === true) throw refusal("threadArchived");
  if (thread?.locked === true && !may(world, channel, world.bot.id, manageThreads)) {
    throw refusal("threadLocked");
  }
  return channel;
}

function createMessage(asked: Asked): Answer {
  const { platform, body } = asked;
  const { world } = platform;
  const channel = writable(platform, asked.param("channel"));
  const nonce = readNonce(body["nonce"]);
  const written = readNewMessage(body, false);
  const key = `${world.bot.id} ${nonce}`;
  if (nonce !== undefined && body["enforce_nonce"] === true) {
    const earlier = platform.nonces.get(key);
    const there = earlier && earlier.until > Date.now() && world.messages.get(earlier.messageId);
    if (there) return messageJson(world, there, true);
  }
  const message = draftMessage(platform, channel, {
    author: world.bot,
    body: written,
    nonce,
  });
  if (nonce !== undefined) {
    platform.nonces.set(key, { messageId: message.id, until: Date.now() + platform.times.nonceMs });
  }
  publish(platform, channel, message);
  notePings(platform, message, written.allowed);
  return messageJson(world, message, true);
}

/** Edits of messages older than an hour are few: 429 with 30046, as every client library has seen it. */
function limitOldEdits(platform: Platform, message: FakeMessage): void {
  const { oldMs } = platform.times;
  const now = Date.now();
  if (now - message.createdAt < oldMs) return;
  const recent = (platform.oldEditsAt.get(message.channelId) ?? []).filter(
    (at) => at > now - oldMs,
  );
  if (recent.length >= platform.oldEdits) {
    const seconds = ((recent[0] ?? now) + oldMs - now) / 1_000;
    const said = "Maximum number of edits to messages older than 1 hour reached. Try again later.";
    throw new Refusal(429, 30046, said, {
      body: { retry_after: seconds, global: false },
      headers: { "Retry-After": String(Math.ceil(seconds)), "X-RateLimit-Scope": "shared" },
    });
  }
  platform.oldEditsAt.set(message.channelId, [...recent, now]);
}

function editMessage(asked: Asked): Answer {
  const { platform } = asked;
  const channel = channelFor(platform.world, asked.param("channel"));
  const message = messageIn(channel, asked.param("message"));
  if (message.author !== platform.world.bot) throw refusal("othersMessage");
  if (message.type !== MESSAGE_TYPES.default && message.type !== MESSAGE_TYPES.reply) {
    throw refusal("systemMessage");
  }
  if (channel.thread?.archived === true) throw refusal("threadArchived");
  const body = readEdit(asked.body, message);
  limitOldEdits(platform, message);
  applyEdit(platform, message, body);
  tellMessage(platform, "MESSAGE_UPDATE", message);
  return messageJson(platform.world, message, true);
}

function deleteMessage({ platform, param }: Asked): Answer {
  const { world } = platform;
  const channel = channelFor(world, param("channel"));
  const message = messageIn(channel, param("message"));
  if (message.author !== world.bot) {
    if (channel.guildId === undefined) throw refusal("directMessage");
    channelFor(world, channel.id, PERMISSIONS.manageMessages);
  }
  removeMessage(platform, message);
  return undefined;
}

/** Newest first. Nothing at all without ReadMessageHistory. Of the pages only `before` is asked for. @throws Refusal 50035 */
function listMessages({ platform, param, query }: Asked): Answer {
  const { world } = platform;
  const channel = channelFor(world, param("channel"));
  if (channel.type === CHANNEL_TYPES.forum) throw refusal("wrongChannelType");
  const limit = Number(query.get("limit") ?? 50);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) {
    throw invalidForm("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.");
  }
  const pages = ["around", "after"].filter((key) => query.has(key));
  if (pages.length > 0) throw invalidForm(pages.join("."), "UNSUPPORTED", "The fake has no pages");
  if (!may(world, channel, world.bot.id, PERMISSIONS.readMessageHistory)) return [];
  const before = query.get("before");
  if (before !== null && !/^\d{1,20}$/.test(before)) {
    throw invalidForm("before", "NUMBER_TYPE_COERCE", `Value "${before}" is not snowflake.`);
  }
  const newest = [...channel.messages.values()]
    .filter(({ id }) => before === null || BigInt(id) < BigInt(before))
    .slice(-limit)
    .toReversed();
  return newest.map((each) => messageJson(world, each, platform.hasContent));
}

function oneMessage({ platform, param }: Asked): Answer {
  const { world } = platform;
  const channel = channelFor(world, param("channel"), PERMISSIONS.readMessageHistory);
  return messageJson(world, messageIn(channel, param("message")), platform.hasContent);
}

function type({ platform, param }: Asked): Answer {
  const channel = writable(platform, param("channel"));
  platform.typing.push({ channelId: channel.id, at: Date.now() });
  return undefined;
}

/** Of the bot, with an emoji as its characters. */
function react({ platform, param }: Asked): Answer {
  const { readMessageHistory, addReactions } = PERMISSIONS;
  const channel = channelFor(platform.world, param("channel"), readMessageHistory | addReactions);
  const message = messageIn(channel, param("message"));
  if (!/^\p{RGI_Emoji}$/v.test(param("emoji"))) throw refusal("unknownEmoji");
  platform.reactions.push({ messageId: message.id, emoji: param("emoji") });
  return undefined;
}

/** The bot's own, which needs no permission but to read. */
function unreact({ platform, param }: Asked): Answer {
  const channel = channelFor(platform.world, param("channel"), PERMISSIONS.readMessageHistory);
  const message = messageIn(channel, param("message"));
  const at = platform.reactions.findIndex(
    ({ messageId, emoji }) => messageId === message.id && emoji === param("emoji"),
  );
  if (at < 0) throw refusal("unknownEmoji");
  platform.reactions.splice(at, 1);
  return undefined;
}

/** Who put the emoji there, in the order of their ids. */
function listMarks({ platform, param, query }: Asked): Answer {
  const { world } = platform;
  const channel = channelFor(world, param("channel"), PERMISSIONS.readMessageHistory);
  const message = messageIn(channel, param("message"));
  const limit = Number(query.get("limit") ?? 25);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw invalidForm("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.");
  const after = BigInt(query.get("after") ?? 0);
  return [...(message.marks.get(param("emoji")) ?? [])]
    .filter(({ id }) => BigInt(id) > after)
    .toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))
    .slice(0, limit)
    .map(userJson);
}

/** Adds `HasThread` to a message from which a thread was started. */
export function markThread(platform: Platform, message: FakeMessage): void {
  message.flags |= FLAGS.hasThread;
  tellMessage(platform, "MESSAGE_UPDATE", message);
}

export const CHANNEL_ROUTES: readonly Route[] = [
  {
    method: "GET",
    pattern: "/channels/:channel",
    run: ({ platform, param }) =>
      channelJson(platform.world, channelFor(platform.world, param("channel"))),
  },
  { method: "GET", pattern: "/channels/:channel/messages", run: listMessages },
  { method: "POST", pattern: "/channels/:channel/messages", run: createMessage },
  { method: "GET", pattern: "/channels/:channel/messages/:message", run: oneMessage },
  { method: "PATCH", pattern: "/channels/:channel/messages/:message", run: editMessage },
  {
    method: "GET",
    pattern: "/channels/:channel/messages/:message/reactions/:emoji",
    run: listMarks,
  },
  {
    method: "PUT",
    pattern: "/channels/:channel/messages/:message/reactions/:emoji/@me",
    run: react,
  },
  {
    method: "DELETE",
    pattern: "/channels/:channel/messages/:message/reactions/:emoji/@me",
    run: unreact,
  },
  { method: "DELETE", pattern: "/channels/:channel/messages/:message", run: deleteMessage },
  { method: "POST", pattern: "/channels/:channel/typing", run: type },
];
