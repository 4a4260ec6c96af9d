import { CHANNEL_TYPES, type FakeChannel, type FakeGuild, type World } from "./world.ts";

/** Bits of https://discord.com/developers/docs/topics/permissions, as far as a chat bot meets them. */
export const PERMISSIONS = {
  administrator: 1n << 3n,
  addReactions: 1n << 6n,
  viewChannel: 1n << 10n,
  sendMessages: 1n << 11n,
  manageMessages: 1n << 13n,
  embedLinks: 1n << 14n,
  attachFiles: 1n << 15n,
  readMessageHistory: 1n << 16n,
  mentionEveryone: 1n << 17n,
  manageThreads: 1n << 34n,
  createPublicThreads: 1n << 35n,
  createPrivateThreads: 1n << 36n,
  sendMessagesInThreads: 1n << 38n,
} as const;

/** What @everyone may in a new guild. */
export const EVERYONE =
  PERMISSIONS.addReactions |
  PERMISSIONS.viewChannel |
  PERMISSIONS.sendMessages |
  PERMISSIONS.embedLinks |
  PERMISSIONS.attachFiles |
  PERMISSIONS.readMessageHistory |
  PERMISSIONS.createPublicThreads |
  PERMISSIONS.createPrivateThreads |
  PERMISSIONS.sendMessagesInThreads;

const ALL = (1n << 53n) - 1n;

/** A member's permissions in the whole guild; none for who is not in it. */
function guildPermissions(guild: FakeGuild, userId: string): bigint {
  const member = guild.members.get(userId);
  if (member === undefined) return 0n;
  if (guild.ownerId === userId) return ALL;
  let bits = guild.roles.get(guild.id)?.permissions ?? 0n;
  for (const id of member.roles) bits |= guild.roles.get(id)?.permissions ?? 0n;
  return (bits & PERMISSIONS.administrator) === 0n ? bits : ALL;
}

/** Overwrites in Discord's order: @everyone's, then those of all roles together, then the member's own. */
function overwritten(guild: FakeGuild, channel: FakeChannel, userId: string): bigint {
  const base = guildPermissions(guild, userId);
  if (base === 0n || base === ALL) return base;
  const roles = guild.members.get(userId)?.roles ?? new Set();
  const everyone = channel.overwrites.get(guild.id);
  let bits = (base & ~(everyone?.deny ?? 0n)) | (everyone?.allow ?? 0n);
  let [deny, allow] = [0n, 0n];
  for (const overwrite of channel.overwrites.values()) {
    if (overwrite.id === guild.id || !roles.has(overwrite.id)) continue;
    deny |= overwrite.deny;
    allow |= overwrite.allow;
  }
  bits = (bits & ~deny) | allow;
  const own = channel.overwrites.get(userId);
  return (bits & ~(own?.deny ?? 0n)) | (own?.allow ?? 0n);
}

/**
 * A user's permissions in a channel. A thread has its parent's; a private one is seen by its members and those who manage
 * threads. Whoever cannot view has none at all. In a direct message both sides may speak and read.
 */
export function permissionsIn(world: World, channel: FakeChannel, userId: string): bigint {
  if (channel.guildId === undefined) {
    const here = channel.recipient?.id === userId || userId === world.bot.id;
    return here ? EVERYONE : 0n;
  }
  const guild = world.guilds.get(channel.guildId);
  const place =
    channel.thread === undefined ? channel : world.channels.get(channel.thread.parentId);
  if (guild === undefined || place === undefined) return 0n;
  const bits = overwritten(guild, place, userId);
  if ((bits & PERMISSIONS.viewChannel) === 0n) return 0n;
  const hidden =
    channel.type === CHANNEL_TYPES.privateThread &&
    channel.thread?.members.has(userId) !== true &&
    (bits & PERMISSIONS.manageThreads) === 0n;
  return hidden ? 0n : bits;
}

/** The user has every one of these bits in the channel. */
export function may(world: World, channel: FakeChannel, userId: string, bits: bigint): boolean {
  return (permissionsIn(world, channel, userId) & bits) === bits;
}
