import { FLAGS } from "./message-body.ts";
import { permissionsIn } from "./permissions.ts";
import {
  CHANNEL_TYPES,
  MESSAGE_TYPES,
  type Body,
  type FakeChannel,
  type FakeGuild,
  type FakeMember,
  type FakeMessage,
  type FakeRole,
  type FakeThread,
  type FakeUser,
  type World,
} from "./world.ts";

const iso = (at: number): string => new Date(at).toISOString().replace("Z", "000+00:00");

export function userJson(user: FakeUser): Body {
  return {
    id: user.id,
    username: user.name.toLowerCase(),
    global_name: user.bot ? null : user.name,
    discriminator: user.bot ? "0001" : "0",
    avatar: null,
    bot: user.bot,
    public_flags: 0,
  };
}

/** A member as it goes beside a `user`. */
function bareMember(member: FakeMember): Body {
  return {
    nick: null,
    avatar: null,
    roles: [...member.roles],
    joined_at: iso(member.joinedAt),
    premium_since: null,
    communication_disabled_until: null,
    deaf: false,
    mute: false,
    pending: member.pending,
    flags: 0,
  };
}

export function memberJson(member: FakeMember): Body {
  return { ...bareMember(member), user: userJson(member.user) };
}

export function roleJson(role: FakeRole): Body {
  return {
    id: role.id,
    name: role.name,
    permissions: String(role.permissions),
    color: 0,
    colors: { primary_color: 0, secondary_color: null, tertiary_color: null },
    hoist: false,
    position: role.id === role.guildId ? 0 : 1,
    managed: role.botId !== undefined,
    mentionable: false,
    flags: 0,
    ...(role.botId !== undefined && { tags: { bot_id: role.botId } }),
  };
}

function threadJson(thread: FakeThread): Body {
  return {
    parent_id: thread.parentId,
    owner_id: thread.ownerId,
    message_count: thread.messageCount,
    total_message_sent: thread.messageCount,
    member_count: Math.min(50, thread.members.size),
    thread_metadata: {
      archived: thread.archived,
      archive_timestamp: iso(thread.archivedAt),
      auto_archive_duration: thread.autoArchiveMinutes,
      locked: thread.locked,
      create_timestamp: iso(thread.createdAt),
    },
  };
}

export function channelJson(world: World, channel: FakeChannel): Body {
  const base: Body = {
    id: channel.id,
    type: channel.type,
    last_message_id: [...channel.messages.keys()].at(-1) ?? null,
    flags: 0,
  };
  if (channel.recipient !== undefined) {
    return { ...base, recipients: [userJson(channel.recipient)] };
  }
  const placed: Body = {
    ...base,
    guild_id: channel.guildId,
    name: channel.name,
    rate_limit_per_user: 0,
  };
  if (channel.thread === undefined) {
    const overwrites = [...channel.overwrites.values()].map((each) => ({
      id: each.id,
      type: each.of === "role" ? 0 : 1,
      allow: String(each.allow),
      deny: String(each.deny),
    }));
    return {
      ...placed,
      position: 0,
      permission_overwrites: overwrites,
      parent_id: null,
      topic: null,
      nsfw: false,
    };
  }
  const json = { ...placed, ...threadJson(channel.thread) };
  if (!channel.thread.members.has(world.bot.id)) return json;
  return { ...json, member: threadMemberJson(channel, channel.thread, world.bot.id) };
}

export function threadMemberJson(channel: FakeChannel, thread: FakeThread, userId: string): Body {
  return { id: channel.id, user_id: userId, join_timestamp: iso(thread.createdAt), flags: 0 };
}

export function guildJson(guild: FakeGuild): Body {
  return {
    id: guild.id,
    name: guild.name,
    icon: null,
    splash: null,
    discovery_splash: null,
    owner_id: guild.ownerId,
    afk_channel_id: null,
    afk_timeout: 300,
    verification_level: 0,
    default_message_notifications: 0,
    explicit_content_filter: 0,
    roles: [...guild.roles.values()].map(roleJson),
    emojis: [],
    stickers: [],
    features: [],
    mfa_level: 0,
    application_id: null,
    system_channel_id: null,
    system_channel_flags: 0,
    rules_channel_id: null,
    public_updates_channel_id: null,
    safety_alerts_channel_id: null,
    max_members: 500_000,
    vanity_url_code: null,
    description: null,
    banner: null,
    premium_tier: 0,
    premium_subscription_count: 0,
    premium_progress_bar_enabled: false,
    preferred_locale: "en-US",
    nsfw_level: 0,
  };
}

/** GUILD_CREATE. Without GuildPresences its members are the bot alone. Threads are the open ones that it can see. */
export function guildCreateJson(world: World, guild: FakeGuild): Body {
  const channels = [...world.channels.values()].filter((channel) => channel.guildId === guild.id);
  const bot = guild.members.get(world.bot.id);
  return {
    ...guildJson(guild),
    joined_at: iso(bot?.joinedAt ?? 0),
    large: false,
    unavailable: false,
    member_count: guild.members.size,
    members: bot === undefined ? [] : [memberJson(bot)],
    channels: channels
      .filter((each) => each.thread === undefined)
      .map((each) => channelJson(world, each)),
    threads: channels
      .filter(
        (each) =>
          each.thread?.archived === false && permissionsIn(world, each, world.bot.id) !== 0n,
      )
      .map((each) => channelJson(world, each)),
    voice_states: [],
    presences: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
  };
}

function attachmentsJson(message: FakeMessage): Body[] {
  return message.attachments.map((file) => ({
    id: file.id,
    filename: file.name,
    content_type: file.type,
    size: file.bytes.length,
    url: file.url,
    proxy_url: file.url,
  }));
}

/**
 * Blank is a message's text to an application without MessageContent, unless the bot wrote it, it came to the bot
 * directly, or it mentions the bot.
 */
function isBlank(world: World, message: FakeMessage, hasContent: boolean): boolean {
  if (hasContent || message.author === world.bot) return false;
  if (world.channels.get(message.channelId)?.guildId === undefined) return false;
  return !message.mentions.users.includes(world.bot.id);
}

/** A message as REST gives it. */
export function messageJson(world: World, message: FakeMessage, hasContent: boolean): Body {
  const blank = isBlank(world, message, hasContent);
  const member = (user: FakeUser): Body => userJson(user);
  const json: Body = {
    id: message.id,
    channel_id: message.channelId,
    author:
      message.webhookId === undefined
        ? userJson(message.author)
        : { ...userJson(message.author), id: message.webhookId, bot: true },
    content: blank ? "" : message.content,
    timestamp: iso(message.createdAt),
    edited_timestamp: message.editedAt === undefined ? null : iso(message.editedAt),
    tts: false,
    mention_everyone: message.mentions.everyone,
    mentions: message.mentions.users.flatMap((id) => {
      const user = world.users.get(id);
      return user === undefined ? [] : [member(user)];
    }),
    mention_roles: message.mentions.roles,
    attachments: blank ? [] : attachmentsJson(message),
    embeds: blank ? [] : message.embeds,
    components: blank ? [] : message.components,
    pinned: false,
    type: message.type,
    flags: message.flags,
  };
  if (message.webhookId !== undefined) json["webhook_id"] = message.webhookId;
  if (message.snapshots.length > 0) {
    json["message_reference"] = { type: 1, message_id: message.id, channel_id: message.channelId };
    json["message_snapshots"] = message.snapshots.map((each) => ({ message: each }));
  }
  if (message.nonce !== undefined) json["nonce"] = message.nonce;
  if ((message.flags & FLAGS.hasThread) !== 0) {
    const thread = world.channels.get(message.id);
    if (thread !== undefined) json["thread"] = channelJson(world, thread);
  }
  if (message.reference !== undefined) {
    const { channelId, messageId } = message.reference;
    json["message_reference"] = {
      type: 0,
      message_id: messageId,
      channel_id: channelId,
      guild_id: world.channels.get(channelId)?.guildId,
    };
    const referenced = world.messages.get(messageId);
    if (message.type === MESSAGE_TYPES.reply || message.type === MESSAGE_TYPES.threadStarter) {
      json["referenced_message"] =
        referenced === undefined
          ? null
          : messageJson(world, { ...referenced, reference: undefined }, hasContent);
    }
  }
  return json;
}

/** A message as the gateway gives it, which names the guild and the author's membership too. */
export function messageEventJson(world: World, message: FakeMessage, hasContent: boolean): Body {
  const channel = world.channels.get(message.channelId);
  const json = {
    ...messageJson(world, message, hasContent),
    channel_type: channel?.type ?? CHANNEL_TYPES.text,
  };
  if (channel?.guildId === undefined) return json;
  const member = world.guilds.get(channel.guildId)?.members.get(message.author.id);
  const withGuild = { ...json, guild_id: channel.guildId };
  const known = member !== undefined && message.webhookId === undefined;
  return known ? { ...withGuild, member: bareMember(member) } : withGuild;
}
