import {
  type APIGuildMember,
  type APIUser,
  ChannelType,
  RESTJSONErrorCodes as Code,
  Routes,
} from "discord.js";
import type { Actor } from "../../core/entry.ts";
import { BotError, isBotError } from "../../core/errors.ts";
import { memoize } from "../../core/memoize.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { People, Membership } from "../../core/people.ts";
import type { Api } from "./api.ts";
import { type Channels, TTL_MS } from "./channels.ts";
import { isCode } from "./errors.ts";
import type { User } from "./payloads.ts";
import { accountOf, type Place, tryPlace, tryRole, tryUser } from "./place.ts";
import type { Served } from "./tenants.ts";

const MAX_MEMBERS = 5_000;
/** Discord gives at most 1 000 at once; a server with more pages than this is not listed. */
const PAGE = 1_000;
const MAX_PAGES = 10;

export interface DiscordPeople extends People {
  nameOf(user: string, place: Place): Promise<string>;
  /** The served servers that an account is a full member of. */
  homesOf(account: string): Promise<string[]>;
  /** The servers whose members' records may be shown to an account in a place: its own, in a direct message theirs. */
  guildsOf(account: string, key: JournalKey): Promise<string[]>;
}

export interface PeopleParts {
  api: Api;
  channels: Channels;
  served(): Served;
}

/** Everything is asked of Discord and forgotten after 60 s. */
export function createPeople({ api, channels, served }: PeopleParts): DiscordPeople {
  const kept = { ttlMs: TTL_MS, max: MAX_MEMBERS };
  const memberOf = memoize((member) => askMember(api, member), kept);
  const membersOf = memoize((guild) => listMembers(api, guild), kept);

  /** A person's membership in a server, whatever the channel. */
  async function membershipIn(guild: string, user: string): Promise<Membership> {
    const member = await memberOf(`${guild} ${user}`);
    if (member === undefined) return "unknown";
    if (member.user.bot === true) return "bot";
    return member.pending === true ? "guest" : "member";
  }

  /** A direct message gives no rights: the best membership in a served server counts. */
  async function standingInDm(user: string, channel: string): Promise<Membership> {
    const { ids } = served();
    const found = new Set(await Promise.all(ids.map((guild) => membershipIn(guild, user))));
    const best = BEST.find((each) => found.has(each)) ?? "unknown";
    if (best !== "member") return best;
    const recipients = await recipientsOf(channels, channel);
    return recipients.some(({ id }) => id === user) ? "member" : "outsider";
  }

  async function homesOf(account: string): Promise<string[]> {
    const user = tryUser(account);
    if (user === undefined) return [];
    const { ids } = served();
    const standings = await Promise.all(ids.map((guild) => membershipIn(guild, user)));
    return ids.filter((_, i) => standings[i] === "member");
  }

  return {
    homesOf,
    async membership(account, key) {
      const user = tryUser(account);
      const place = tryPlace(key);
      if (user === undefined || place === undefined) return "unknown";
      if (place.guild === undefined) return standingInDm(user, place.channel);
      if (!served().has(place.guild)) return "unknown";
      const membership = await membershipIn(place.guild, user);
      if (membership !== "member") return membership;
      const roles = (await memberOf(`${place.guild} ${user}`))?.roles ?? [];
      const isIn = await channels.mayView(place.guild, place.channel, { user, roles });
      return isIn ? "member" : "outsider";
    },

    async members(reference) {
      const role = tryRole(reference);
      const guild = role === undefined ? undefined : await guildOfRole(channels, served(), role);
      if (role === undefined || guild === undefined) return undefined;
      const all = await membersOf(guild);
      return all.filter(({ roles }) => roles.includes(role) || role === guild).map(accountIn);
    },

    async everyone(key) {
      const place = tryPlace(key);
      if (place === undefined) return undefined;
      const { guild, channel } = place;
      if (guild === undefined) {
        const recipients = (await recipientsOf(channels, channel)).map(({ id }) => id);
        const standings = await Promise.all(recipients.map((id) => standingInDm(id, channel)));
        return recipients.filter((_, i) => standings[i] === "member").map(accountOf);
      }
      if (!served().has(guild)) return [];
      return listViewers(channels, membersOf, guild, channel);
    },

    async label(reference, key) {
      const role = tryRole(reference);
      const home = tryPlace(key)?.guild;
      const guild = role === undefined ? home : await guildOfRole(channels, served(), role);
      if (guild === undefined || !served().has(guild)) return undefined;
      if (role !== undefined) return channels.roleName(guild, role);
      return memberName(await memberOf(`${guild} ${tryUser(reference)}`));
    },

    // Discord does not tell bots anybody's time zone.
    timezone: async () => undefined,

    async nameOf(user, place) {
      const { guild, channel } = place;
      if (guild !== undefined) return memberName(await memberOf(`${guild} ${user}`)) ?? user;
      const recipient = (await recipientsOf(channels, channel)).find(({ id }) => id === user);
      return recipient === undefined ? user : nameIn(recipient, undefined);
    },

    async guildsOf(account, key) {
      const place = tryPlace(key);
      if (place?.guild !== undefined) return served().has(place.guild) ? [place.guild] : [];
      return place === undefined ? [] : homesOf(account);
    },
  };
}

/** The served server that has this role; the gateway may tell another process of it. */
async function guildOfRole(
  channels: Channels,
  { ids }: Served,
  role: string,
): Promise<string | undefined> {
  for (const id of ids) {
    const guild = await unlessUnknown(channels.guild(id));
    if (guild?.roles.some((each) => each.id === role) === true) return id;
  }
  return undefined;
}

/** Undefined when they cannot be listed. */
async function listViewers(
  channels: Channels,
  membersOf: (guild: string) => Promise<APIGuildMember[]>,
  guild: string,
  channel: string,
): Promise<string[] | undefined> {
  let all: APIGuildMember[];
  try {
    all = await membersOf(guild);
  } catch (error) {
    if (isBotError(error, "PLATFORM_REFUSED")) return undefined;
    throw error;
  }
  const { type } = await channels.channel(channel);
  // The members of a private thread are not worth one request each.
  if (type === ChannelType.PrivateThread) return undefined;
  const people = all.filter(({ user, pending }) => user.bot !== true && pending !== true);
  const views = await Promise.all(
    people.map(({ user, roles }) => channels.mayView(guild, channel, { user: user.id, roles })),
  );
  return people.filter((_, i) => views[i] === true).map(accountIn);
}

function memberName(member: APIGuildMember | undefined): string | undefined {
  return member && nameIn(member.user, member.nick);
}

/** The membership that counts among those of several servers. */
const BEST: readonly Membership[] = ["member", "guest", "bot"];

/** A person's name: in the server, else their display name, else their account's. */
export function nameIn(
  { username, global_name }: Pick<User, "username"> & { global_name?: string | null | undefined },
  nick: string | null | undefined,
): string {
  return nick || global_name || username;
}

export function actorOf(user: User, nick: string | null | undefined): Actor {
  const { id, username } = user;
  const name = nameIn(user, nick);
  return { account: accountOf(id), name, ...(username !== "" && { handle: username }) };
}

function accountIn({ user }: APIGuildMember): string {
  return accountOf(user.id);
}

async function recipientsOf(channels: Channels, id: string): Promise<APIUser[]> {
  const channel = await channels.channel(id);
  return ("recipients" in channel && channel.recipients) || [];
}

/** The person is in no such server, or the bot is not. */
const NO_MEMBER = [Code.UnknownMember, Code.UnknownUser, Code.UnknownGuild, Code.MissingAccess];

/** `member`: a server and a user with a space between. Undefined: there is no such member. */
async function askMember(api: Api, member: string): Promise<APIGuildMember | undefined> {
  const [guild = "", user = ""] = member.split(" ");
  return unlessUnknown(api.ask<APIGuildMember>("get", Routes.guildMember(guild, user)));
}

async function unlessUnknown<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isCode(error, ...NO_MEMBER)) return undefined;
    throw error;
  }
}

/** @throws BotError PLATFORM_REFUSED also when the server is too large */
async function listMembers(api: Api, guild: string): Promise<APIGuildMember[]> {
  const all: APIGuildMember[] = [];
  let after = "0";
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = { limit: PAGE, after };
    const found = await listPage(api, guild, query);
    all.push(...found);
    after = found.at(-1)?.user.id ?? after;
    if (found.length < PAGE) return all;
  }
  throw new BotError(
    "PLATFORM_REFUSED",
    `The server has more than ${PAGE * MAX_PAGES} members, too many to look for a role's; name the approvers' accounts instead.`,
  );
}

async function listPage(
  api: Api,
  guild: string,
  query: { limit: number; after: string },
): Promise<APIGuildMember[]> {
  try {
    return await api.ask<APIGuildMember[]>("get", Routes.guildMembers(guild), { query });
  } catch (error) {
    if (!isCode(error, Code.MissingAccess, Code.MissingPermissions)) throw error;
    throw new BotError(
      "PLATFORM_REFUSED",
      "Discord does not list the server's members; switch on \"Server Members Intent\" (Bot, at discord.com/developers/applications), or name the approvers' accounts instead of a role.",
      { cause: error },
    );
  }
}
