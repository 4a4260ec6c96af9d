import type { webApi } from "@slack/bolt";
import { LRUCache } from "lru-cache";
import type { Actor } from "../../core/entry.ts";
import { memoize } from "../../core/memoize.ts";
import type { People, Membership } from "../../core/people.ts";
import { answerWithin, type Api } from "./api.ts";
import { refusalCode } from "./errors.ts";
import {
  accountOf,
  type Place,
  SLACKS_OWN,
  tryAccount,
  tryGroup,
  tryPlace,
  type Workspace,
} from "./place.ts";

/** SAFETY: who may decide is looked up again after this at the latest. */
const TTL_MS = 60_000;
/** What a person is called decides nothing. */
const NAMES_TTL_MS = 86_400_000;
/** What a group is called decides nothing. */
const HANDLES_TTL_MS = 600_000;
const MAX_USERS = 5_000;
const MAX_CHANNELS = 1_000;

/** Slack gives at most 1 000 at once; a channel with more pages than this is not listed. */
const PAGE = 1_000;
const MAX_PAGES = 5;

/** An event waits this long for a person's name: it must be recorded and acknowledged within 3 s. */
const NAME_MS = 700;

type Profile = NonNullable<webApi.UsersInfoResponse["user"]>;

/** The workspace's people, and what of a channel decides who sees it. */
export interface SlackPeople extends People {
  label(reference: string): Promise<string | undefined>;
  /**
   * A person as entries name them. `team` is what the event says; who cannot be looked up quickly is named by id.
   * @throws BotError of one from another workspace what `Api.ask` throws
   */
  actor(user: string, team: string | undefined): Promise<Actor>;
  /** Undefined when Slack does not answer quickly. */
  nameOf(user: string): Promise<string | undefined>;
  /**
   * True for a public channel of the workspace that nobody from elsewhere reads, false for one that the bot may not see. Throws
   * while that cannot be asked.
   */
  isPublic(channel: string): Promise<boolean>;
  /** Other companies read along, or will once they accept. Throws while that cannot be asked. */
  hasOutsiders(channel: string): Promise<boolean>;
  /** The bot is in it, and can write there. Throws while that cannot be asked. */
  isHere(channel: string): Promise<boolean>;
  /** Such as `#ops`; undefined for direct messages and what the bot may not see. Throws while that cannot be asked. */
  channelName(channel: string): Promise<string | undefined>;
}

/** Everything is asked of Slack and forgotten after 60 s. */
export function createPeople(api: Api, workspace: Workspace): SlackPeople {
  const { team } = workspace;
  const kept = { ttlMs: TTL_MS, max: MAX_USERS };
  const profileOf = memoize((user) => profile(api, user), kept);
  const membersOf = memoize((channel) => listMembers(api, channel), {
    ...kept,
    max: MAX_CHANNELS,
  });
  const groupOf = memoize((group) => listGroup(api, group), { ...kept, max: MAX_CHANNELS });
  const handlesOf = memoize(() => listHandles(api), { ttlMs: HANDLES_TTL_MS, max: 1 });
  const channelOf = memoize((channel) => askChannel(api, channel), { ...kept, max: MAX_CHANNELS });
  const isHome = ({ team_id, enterprise_user }: Profile) =>
    team_id === team || enterprise_user?.teams?.includes(team) === true;

  const quickly = createNames(profileOf);

  async function membershipOf(account: string, place: Place | undefined): Promise<Membership> {
    const named = tryAccount(account);
    const found = named && (await profileOf(named.user));
    if (named === undefined || found === undefined) return "unknown";
    if (found.deleted === true) return "deactivated";
    if (found.is_bot === true || SLACKS_OWN.has(named.user)) return "bot";
    const { is_restricted, is_ultra_restricted, is_stranger } = found;
    const isGuest = is_restricted === true || is_ultra_restricted === true || is_stranger === true;
    if (isGuest || named.team !== team || !isHome(found)) return "guest";
    if (place === undefined) return "outsider";
    const { users } = await membersOf(place.channel);
    // In a channel too large to be listed a person who is not on its first pages may be in it, or not.
    return users.has(named.user) ? "member" : "outsider";
  }

  return {
    membership: (account, key) => membershipOf(account, tryPlace(key, team)),
    async members(reference) {
      const group = tryGroup(reference);
      const users = group === undefined ? undefined : await groupOf(group);
      return users?.map((user) => accountOf(team, user));
    },
    async everyone(key) {
      const place = tryPlace(key, team);
      if (place === undefined) return undefined;
      const { users, whole } = await membersOf(place.channel);
      if (!whole) return undefined;
      return [...users]
        .filter((user) => user !== workspace.botUser)
        .map((user) => accountOf(team, user));
    },
    async label(reference) {
      const group = tryGroup(reference);
      if (group !== undefined) return (await handlesOf("")).get(group);
      const named = tryAccount(reference);
      return named?.team === team ? shownName(await profileOf(named.user)) : undefined;
    },
    async timezone(account) {
      const named = tryAccount(account);
      const found = named && (await profileOf(named.user));
      return found?.tz || undefined;
    },
    async actor(user, said) {
      const isLocal = said === undefined || said === team;
      // One person has one account. Only the profile of somebody from elsewhere says whether they belong here too.
      const found = isLocal
        ? await quickly(user, said === team)
        : await answerWithin(NAME_MS, profileOf(user));
      const isOurs = said === team || (found === undefined ? isLocal : isHome(found));
      return {
        // With a file, or a reply also shown in the channel, Slack does not name the workspace.
        account: accountOf(isOurs ? team : (said ?? found?.team_id ?? team), user),
        name: shownName(found) ?? user,
        ...(found?.name && { handle: found.name }),
      };
    },
    nameOf: async (user) => shownName(await quickly(user, true)),
    isPublic: async (channel) => isOpenToAll(await channelOf(channel)),
    hasOutsiders: async (channel) => isSharedOutside(await channelOf(channel)),
    isHere: async (channel) => {
      const { is_member, is_im } = (await channelOf(channel)) ?? {};
      return is_member === true || is_im === true;
    },
    channelName: async (channel) => {
      const { name, is_im, is_mpim } = (await channelOf(channel)) ?? {};
      return name === undefined || is_im === true || is_mpim === true ? undefined : `#${name}`;
    },
  };
}

/** The profile if it comes quickly; `mayBeOld`: as an earlier look-up had it, for what a person is called. */
function createNames(profileOf: (user: string) => Promise<Profile | undefined>) {
  const last = new LRUCache<string, Profile>({ max: MAX_USERS, ttl: NAMES_TTL_MS });
  async function look(user: string): Promise<Profile | undefined> {
    const found = await profileOf(user);
    if (found === undefined) last.delete(user);
    else last.set(user, found);
    return found;
  }
  return async (user: string, mayBeOld: boolean): Promise<Profile | undefined> => {
    const known = mayBeOld ? last.get(user) : undefined;
    const looked = look(user).catch(() => undefined);
    return known ?? answerWithin(NAME_MS, looked).catch(() => undefined);
  };
}

function shownName(found: Profile | undefined): string | undefined {
  const { profile: own, real_name, name } = found ?? {};
  return own?.display_name || own?.real_name || real_name || name || undefined;
}

/** Undefined when there is no such account. */
async function profile(api: Api, user: string): Promise<Profile | undefined> {
  try {
    const found = await api.ask("users.info", (client) => client.users.info({ user }));
    return found.user;
  } catch (error) {
    if (isCode(error, "user_not_found", "user_not_visible")) return undefined;
    throw error;
  }
}

/** `whole` is false when there are more pages than were read. */
async function listMembers(
  api: Api,
  channel: string,
): Promise<{ users: Set<string>; whole: boolean }> {
  const users = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const args = { channel, limit: PAGE, ...(cursor !== undefined && { cursor }) };
    const found = await api.ask("conversations.members", (client) =>
      client.conversations.members(args),
    );
    for (const user of found.members ?? []) users.add(user);
    cursor = found.response_metadata?.next_cursor || undefined;
    if (cursor === undefined) return { users, whole: true };
  }
  return { users, whole: false };
}

/** Undefined when there is no such group. */
async function listGroup(api: Api, usergroup: string): Promise<string[] | undefined> {
  try {
    const found = await api.ask("usergroups.users.list", (client) =>
      client.usergroups.users.list({ usergroup }),
    );
    return found.users ?? [];
  } catch (error) {
    if (isCode(error, "no_such_subteam", "subteam_not_found")) return undefined;
    throw error;
  }
}

/** By group, `@sre`. */
async function listHandles(api: Api): Promise<ReadonlyMap<string, string>> {
  const { usergroups = [] } = await api.ask("usergroups.list", (client) =>
    client.usergroups.list(),
  );
  return new Map(
    usergroups.flatMap(({ id, handle }) => (id && handle ? [[id, `@${handle}`] as const] : [])),
  );
}

type Channel = webApi.ConversationsInfoResponse["channel"];

/** Undefined when the bot may not see it. */
async function askChannel(api: Api, channel: string): Promise<Channel> {
  try {
    const asked = await api.ask("conversations.info", (client) =>
      client.conversations.info({ channel }),
    );
    return asked.channel;
  } catch (error) {
    if (isCode(error, "channel_not_found")) return undefined;
    throw error;
  }
}

/** What Slack does not call public is private. */
function isOpenToAll(found: Channel): boolean {
  if (isSharedOutside(found)) return false;
  return found?.is_private === false && found.is_im !== true && found.is_mpim !== true;
}

/** Who accepts an invitation reads what was said before, too. */
function isSharedOutside(found: Channel): boolean {
  return found?.is_ext_shared === true || found?.is_pending_ext_shared === true;
}

function isCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes(refusalCode(error) ?? "");
}
