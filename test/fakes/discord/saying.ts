import { may, PERMISSIONS } from "./permissions.ts";
import { draftMessage, publish, tellChannel, type Platform } from "./platform.ts";
import { type Body, MESSAGE_TYPES, type FakeChannel, type FakeUser } from "./world.ts";

export interface SayOptions {
  /** Begins with a mention of the bot. */
  mention?: boolean;
  /** A message's id; its author is mentioned, as Discord does unless told otherwise. */
  replyTo?: string;
  attachments?: readonly { name: string; type: string; bytes: Uint8Array }[];
  /** Of a bot's or a webhook's message; people's embeds come from links. */
  embeds?: readonly Body[];
  components?: readonly Body[];
  /** It forwards a message: what that one was. Such a message has no text of its own. */
  forwards?: Body;
  /** Said by a webhook, under the user's name. */
  webhook?: boolean;
  /** Of the first message of a post in a forum. */
  id?: string;
  /** One of Discord's own messages, such as that somebody joined. */
  system?: boolean;
}

/** What people without Nitro may write at once. */
const MAX_CHARACTERS = 2_000;

/** @throws Error for what Discord's client would not let a person do */
function refuseUnlessMay(platform: Platform, user: FakeUser, channel: FakeChannel): void {
  const { world } = platform;
  const member =
    channel.guildId === undefined
      ? undefined
      : world.guilds.get(channel.guildId)?.members.get(user.id);
  const bit =
    channel.thread === undefined ? PERMISSIONS.sendMessages : PERMISSIONS.sendMessagesInThreads;
  const locked =
    channel.thread?.locked === true && !may(world, channel, user.id, PERMISSIONS.manageThreads);
  if (member?.pending === true || locked || !may(world, channel, user.id, bit)) {
    throw new Error(`${user.name} may not write in ${channel.name}`);
  }
}

export function sayAs(
  platform: Platform,
  user: FakeUser,
  channel: FakeChannel,
  text: string,
  options: SayOptions,
): string {
  const { world } = platform;
  const content = (options.mention === true ? `<@${world.bot.id}> ${text}` : text).trim();
  const files = options.attachments ?? [];
  if (content.length > MAX_CHARACTERS)
    throw new Error(`Nobody may write ${content.length} characters`);
  const { embeds = [], components = [], forwards } = options;
  const isEmpty = content === "" && [files, embeds, components].every((each) => each.length === 0);
  if (isEmpty && forwards === undefined) throw new Error("Nobody can write nothing");
  if (forwards !== undefined && content !== "") throw new Error("A forward has no text of its own");
  if (options.webhook !== true) refuseUnlessMay(platform, user, channel);
  const replied = options.replyTo === undefined ? undefined : world.messages.get(options.replyTo);
  if (options.replyTo !== undefined && replied === undefined)
    throw new Error(`No message ${options.replyTo}`);
  const draft = draftMessage(platform, channel, {
    author: user,
    body: { content, components: [...components], flags: 0 },
    files,
    embeds,
    snapshots: forwards === undefined ? [] : [forwards],
    reference: replied && { channelId: channel.id, messageId: replied.id },
    webhookId: options.webhook === true ? world.newId() : undefined,
    ...(options.system === true ? { type: MESSAGE_TYPES.join } : {}),
  });
  const message = options.id === undefined ? draft : { ...draft, id: options.id };
  if (replied !== undefined && !message.mentions.users.includes(replied.author.id)) {
    message.mentions.users.push(replied.author.id);
  }
  if (channel.thread?.archived === true) {
    channel.thread.archived = false;
    tellChannel(platform, "THREAD_UPDATE", channel);
  }
  publish(platform, channel, message);
  return message.id;
}
