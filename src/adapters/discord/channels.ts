import {
  type APIChannel,
  type APIGuild,
  type APIThreadChannel,
  ChannelType,
  OverwriteType,
  PermissionFlagsBits as Bits,
  RESTJSONErrorCodes as Code,
  Routes,
} from "discord.js";
import { memoize } from "../../core/memoize.ts";
import { isBotError } from "../../core/errors.ts";
import type { Api } from "./api.ts";
import { isCode } from "./errors.ts";
import { firstOf } from "./conversations.ts";
import { keyOf, type Place } from "./place.ts";

/** SAFETY: who may decide is looked up again after this at the latest. */
export const TTL_MS = 60_000;
const MAX_KEPT = 2_000;

const THREADS: ReadonlySet<number> = new Set([
  ChannelType.AnnouncementThread,
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
]);

const FORUMS: ReadonlySet<number> = new Set([ChannelType.GuildForum, ChannelType.GuildMedia]);

/** A thread that has its first message in itself, and a title by who wrote that. */
export interface ForumPost {
  id: string;
  title: string;
  owner: string | undefined;
}

export function isThreadType(type: number): boolean {
  return THREADS.has(type);
}

function isThread(channel: APIChannel): channel is APIThreadChannel {
  return isThreadType(channel.type);
}

/** A member of a server, or @everyone: no user and no roles. */
export interface Viewer {
  user: string | undefined;
  roles: readonly string[];
}

const EVERYONE: Viewer = { user: undefined, roles: [] };

/** What Discord says of channels and servers, at most 60 s old. All throw what `Api.ask` throws. */
export function createChannels(api: Api) {
  const kept = { ttlMs: TTL_MS, max: MAX_KEPT };
  const channel = memoize((id) => api.ask<APIChannel>("get", Routes.channel(id)), kept);
  const guild = memoize((id) => api.ask<APIGuild>("get", Routes.guild(id)), kept);
  const isInThread = memoize(async (member) => {
    const [thread = "", user = ""] = member.split(" ");
    try {
      await api.ask("get", Routes.threadMembers(thread, user));
      return true;
    } catch (error) {
      if (isCode(error, Code.UnknownMember)) return false;
      throw error;
    }
  }, kept);

  /** What a viewer may do in a channel of a server; of a thread, in the channel that it is in. */
  async function permissions(guildId: string, channelId: string, viewer: Viewer): Promise<bigint> {
    const [server, found] = await Promise.all([guild(guildId), channel(channelId)]);
    const parent = isThread(found) && found.parent_id ? await channel(found.parent_id) : found;
    return permissionsIn(server, parent, viewer);
  }

  /** True for who may read along; of a private thread its members and those who manage threads. */
  async function mayView(guildId: string, channelId: string, viewer: Viewer): Promise<boolean> {
    const bits = await permissions(guildId, channelId, viewer);
    if ((bits & Bits.ViewChannel) === 0n) return false;
    const { type } = await channel(channelId);
    if (type !== ChannelType.PrivateThread || (bits & Bits.ManageThreads) !== 0n) return true;
    return viewer.user !== undefined && (await isInThread(`${channelId} ${viewer.user}`));
  }

  return {
    channel,
    guild,
    permissions,
    mayView,
    /** `#ops`; of a thread, the channel that it is in. */
    async name(id: string): Promise<string | undefined> {
      const found = await channel(id);
      const parent = isThread(found) && found.parent_id ? await channel(found.parent_id) : found;
      return parent.name ? `#${parent.name}` : undefined;
    },
    /** `@sre` */
    async roleName(guildId: string, role: string): Promise<string | undefined> {
      const found = (await guild(guildId)).roles.find(({ id }) => id === role);
      return found && `@${found.name.replace(/^@/, "")}`;
    },
    /** Undefined for a thread that is no post in a forum. */
    async forumPost(id: string): Promise<ForumPost | undefined> {
      const found = await channel(id);
      if (!isThread(found) || !found.parent_id) return undefined;
      const { type } = await channel(found.parent_id);
      if (!FORUMS.has(type)) return undefined;
      return { id, title: found.name ?? "", owner: found.owner_id };
    },
    /** The channel that a thread is in, as a key of this platform begins; a direct message is its own. */
    async channelOf(place: Place): Promise<string> {
      if (place.guild === undefined) return keyOf(firstOf(place));
      const found = await channel(place.channel);
      const parent = isThread(found) ? found.parent_id : undefined;
      return keyOf({ guild: place.guild, channel: parent ?? place.channel });
    },
    /** Undefined for a thread that @everyone may read, else the private place it belongs to. */
    async audience(place: Place): Promise<string | undefined> {
      // A direct message is its own place, and so is a private thread: others of its channel have other members.
      if (place.guild === undefined) return keyOf(firstOf(place));
      try {
        if (await mayView(place.guild, place.channel, EVERYONE)) return undefined;
        const found = await channel(place.channel);
        const isOwn = found.type === ChannelType.PrivateThread || !isThread(found);
        const shared = isOwn ? undefined : found.parent_id;
        return keyOf({ guild: place.guild, channel: shared ?? place.channel });
      } catch (error) {
        // A channel that the bot may not see is private, to this thread alone; if Discord does not answer, nobody knows.
        if (isBotError(error, "PLATFORM_REFUSED")) return keyOf(place);
        throw error;
      }
    },
  };
}

export type Channels = ReturnType<typeof createChannels>;

/** All of a member's permissions in a channel, by https://discord.com/developers/docs/topics/permissions */
export function permissionsIn(
  guild: Pick<APIGuild, "id" | "owner_id" | "roles">,
  channel: APIChannel,
  { user, roles }: Viewer,
): bigint {
  if (user === guild.owner_id) return ~0n;
  const isHeld = (id: string) => id === guild.id || roles.includes(id);
  const base = union(guild.roles.filter(({ id }) => isHeld(id)).map((role) => role.permissions));
  if ((base & Bits.Administrator) !== 0n) return ~0n;
  const overwrites = ("permission_overwrites" in channel && channel.permission_overwrites) || [];
  const layers = [
    overwrites.filter(({ id }) => id === guild.id),
    overwrites.filter(
      ({ id, type }) => type === OverwriteType.Role && id !== guild.id && isHeld(id),
    ),
    overwrites.filter(({ id, type }) => type === OverwriteType.Member && id === user),
  ];
  return layers.reduce((bits, layer) => {
    const deny = union(layer.map((overwrite) => overwrite.deny));
    return (bits & ~deny) | union(layer.map((overwrite) => overwrite.allow));
  }, base);
}

function union(fields: readonly string[]): bigint {
  return fields.reduce((bits, field) => bits | BigInt(field), 0n);
}

/** What the bot needs in a channel, with the names that the client shows. */
const NEEDED: readonly (readonly [name: string, bit: bigint])[] = [
  ["View Channels", Bits.ViewChannel],
  ["Send Messages", Bits.SendMessages],
  ["Create Public Threads", Bits.CreatePublicThreads],
  ["Send Messages in Threads", Bits.SendMessagesInThreads],
  ["Read Message History", Bits.ReadMessageHistory],
];

/** The permissions that the invite link asks for. */
export const NEEDED_BITS = NEEDED.reduce((bits, [, bit]) => bits | bit, 0n);

export function missingAmong(bits: bigint): string[] {
  return NEEDED.filter(([, bit]) => (bits & bit) === 0n).map(([name]) => name);
}
