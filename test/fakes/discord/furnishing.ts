import { INTENTS } from "./gateway.ts";
import { guildCreateJson } from "./payloads.ts";
import { EVERYONE, PERMISSIONS } from "./permissions.ts";
import { tellChannel, tellMember, tellRole, type Platform } from "./platform.ts";
import {
  CHANNEL_TYPES,
  type FakeChannel,
  type FakeGuild,
  type FakeMember,
  type FakeRole,
  type FakeUser,
} from "./world.ts";

/** A guild with the bot and its owner in it; the bot's role has these permissions beside what everyone may. */
export function furnishGuild(
  platform: Platform,
  owner: FakeUser,
  options: { id?: string; name?: string; botPermissions?: bigint },
): FakeGuild {
  const { world, gateway } = platform;
  const id = options.id ?? world.newId();
  const everyone: FakeRole = { id, guildId: id, name: "@everyone", permissions: EVERYONE };
  const permissions = options.botPermissions ?? 0n;
  const botRole: FakeRole = {
    id: world.newId(),
    guildId: id,
    name: world.bot.name,
    permissions,
    botId: world.bot.id,
  };
  const member = (user: FakeUser, roles: readonly FakeRole[]): [string, FakeMember] => [
    user.id,
    { user, roles: new Set(roles.map((role) => role.id)), pending: false, joinedAt: Date.now() },
  ];
  const guild: FakeGuild = {
    id,
    name: options.name ?? "Operations",
    ownerId: owner.id,
    roles: new Map([everyone, botRole].map((role) => [role.id, role])),
    members: new Map([member(owner, []), member(world.bot, [botRole])]),
  };
  world.guilds.set(id, guild);
  gateway.dispatch("GUILD_CREATE", (session) =>
    (session.intents & INTENTS.guilds) === 0 ? undefined : guildCreateJson(world, guild),
  );
  return guild;
}

/** Throws the bot out. */
export function leaveGuild(platform: Platform, guild: FakeGuild): void {
  const { world, gateway } = platform;
  world.guilds.delete(guild.id);
  for (const channel of world.channels.values()) {
    if (channel.guildId === guild.id) world.channels.delete(channel.id);
  }
  gateway.dispatch("GUILD_DELETE", (session) =>
    (session.intents & INTENTS.guilds) === 0 ? undefined : { id: guild.id },
  );
}

/** Adds a member, or changes one. */
export function setMember(
  platform: Platform,
  guild: FakeGuild,
  user: FakeUser,
  options: { roles?: readonly FakeRole[]; pending?: boolean },
): void {
  const before = guild.members.get(user.id);
  const roles = new Set((options.roles ?? []).map((role) => role.id));
  const joinedAt = before?.joinedAt ?? Date.now();
  const member = { user, roles, pending: options.pending === true, joinedAt };
  guild.members.set(user.id, member);
  const event = before === undefined ? "GUILD_MEMBER_ADD" : "GUILD_MEMBER_UPDATE";
  tellMember(platform, event, guild, member);
}

export function furnishRole(
  platform: Platform,
  guild: FakeGuild,
  options: { name?: string; permissions?: bigint },
): FakeRole {
  const role: FakeRole = {
    id: platform.world.newId(),
    guildId: guild.id,
    name: options.name ?? "role",
    permissions: options.permissions ?? 0n,
  };
  guild.roles.set(role.id, role);
  tellRole(platform, "GUILD_ROLE_CREATE", role);
  return role;
}

/** Allows or denies someone something, on top of what was set before; says nothing. */
function overwriteQuietly(
  channel: FakeChannel,
  who: FakeRole | FakeUser,
  { allow = 0n, deny = 0n }: { allow?: bigint; deny?: bigint },
): void {
  const of = "guildId" in who ? "role" : "member";
  const before = channel.overwrites.get(who.id) ?? { allow: 0n, deny: 0n };
  channel.overwrites.set(who.id, {
    id: who.id,
    of,
    allow: (before.allow & ~deny) | allow,
    deny: (before.deny & ~allow) | deny,
  });
}

export function setOverwrite(
  platform: Platform,
  channel: FakeChannel,
  who: FakeRole | FakeUser,
  change: { allow?: bigint; deny?: bigint },
): void {
  overwriteQuietly(channel, who, change);
  tellChannel(platform, "CHANNEL_UPDATE", channel);
}

export function furnishChannel(
  platform: Platform,
  guild: FakeGuild,
  options: {
    name: string;
    visibleTo?: readonly (FakeRole | FakeUser)[];
    withoutBot?: boolean;
    isForum?: boolean;
  },
): FakeChannel {
  const { world } = platform;
  const view = PERMISSIONS.viewChannel;
  const channel: FakeChannel = {
    id: world.newId(),
    type: options.isForum === true ? CHANNEL_TYPES.forum : CHANNEL_TYPES.text,
    guildId: guild.id,
    name: options.name,
    overwrites: new Map(),
    recipient: undefined,
    thread: undefined,
    messages: new Map(),
  };
  const everyone = guild.roles.get(guild.id);
  if (options.visibleTo !== undefined && everyone !== undefined) {
    overwriteQuietly(channel, everyone, { deny: view });
    for (const who of [...options.visibleTo, world.bot])
      overwriteQuietly(channel, who, { allow: view });
  }
  if (options.withoutBot === true) overwriteQuietly(channel, world.bot, { deny: view });
  world.channels.set(channel.id, channel);
  tellChannel(platform, "CHANNEL_CREATE", channel);
  return channel;
}
