import { leaveGuild } from "./furnishing.ts";
import { INTENTS } from "./gateway.ts";
import {
  channelJson,
  guildJson,
  memberJson,
  roleJson,
  threadMemberJson,
  userJson,
} from "./payloads.ts";
import { permissionsIn } from "./permissions.ts";
import type { Platform } from "./platform.ts";
import { invalidForm, refusal } from "./refusals.ts";
import type { Answer, Asked, Route } from "./route.ts";
import { dmWith, textIn, type Body, type FakeGuild } from "./world.ts";

/** A guild the bot is in. @throws Refusal 10004 */
function guildFor({ platform, param }: Asked): FakeGuild {
  const guild = platform.world.guilds.get(param("guild"));
  if (guild === undefined || !guild.members.has(platform.world.bot.id))
    throw refusal("unknownGuild");
  return guild;
}

function getMember(asked: Asked): Answer {
  const guild = guildFor(asked);
  const id = asked.param("user");
  const member = guild.members.get(id);
  if (member !== undefined) return memberJson(member);
  throw refusal(asked.platform.world.users.has(id) ? "unknownMember" : "unknownUser");
}

/** Only for applications with GuildMembers. @throws Refusal 50001 */
function listMembers(asked: Asked): Answer {
  const guild = guildFor(asked);
  if (!asked.platform.hasMembers) throw refusal("missingAccess");
  const limit = Number(asked.query.get("limit") ?? 1);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000) {
    throw invalidForm("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 1000.");
  }
  const after = BigInt(asked.query.get("after") ?? 0);
  const ordered = [...guild.members.values()].toSorted((a, b) =>
    BigInt(a.user.id) < BigInt(b.user.id) ? -1 : 1,
  );
  return ordered
    .filter((member) => BigInt(member.user.id) > after)
    .slice(0, limit)
    .map(memberJson);
}

function activeThreads(asked: Asked): Answer {
  const { world } = asked.platform;
  const guild = guildFor(asked);
  const threads = [...world.channels.values()].filter(
    (each) =>
      each.guildId === guild.id &&
      each.thread?.archived === false &&
      permissionsIn(world, each, world.bot.id) !== 0n,
  );
  return {
    threads: threads.map((each) => channelJson(world, each)),
    members: threads.flatMap((each) =>
      each.thread?.members.has(world.bot.id) === true
        ? [threadMemberJson(each, each.thread, world.bot.id)]
        : [],
    ),
  };
}

/** Always works; whether the person takes messages shows at the first one. */
function openDm({ platform, body }: Asked): Answer {
  const { world } = platform;
  const user = world.users.get(String(body["recipient_id"]));
  if (user === undefined) {
    throw invalidForm("recipient_id", "BASE_TYPE_REQUIRED", "There is no such recipient");
  }
  if (user.bot) throw refusal("cannotMessageUser");
  return channelJson(world, dmWith(world, user));
}

/**
 * What op 8 is answered with: a whole list only with GuildMembers and nothing otherwise, as Discord does; by ids for
 * anybody, at most 100.
 */
export function membersChunks(platform: Platform, request: Body, intents: number): Body[] {
  const guild = platform.world.guilds.get(String(request["guild_id"]));
  if (guild === undefined) return [];
  const base = { guild_id: guild.id, chunk_index: 0, chunk_count: 1, nonce: request["nonce"] };
  const ids = request["user_ids"];
  if (ids !== undefined) {
    const asked = (Array.isArray(ids) ? ids : [ids]).map(String).slice(0, 100);
    const found = asked.flatMap((id) => guild.members.get(id) ?? []);
    const missing = asked.filter((id) => !guild.members.has(id));
    return [{ ...base, members: found.map(memberJson), not_found: missing }];
  }
  const query = textIn(request, "query").toLowerCase();
  const limit = Number(request["limit"] ?? 0);
  if (query === "" && (intents & INTENTS.guildMembers) === 0) return [];
  const found = [...guild.members.values()].filter((each) =>
    each.user.name.toLowerCase().startsWith(query),
  );
  const most = query === "" ? limit || Infinity : Math.min(limit || 100, 100);
  return [{ ...base, members: found.slice(0, most).map(memberJson) }];
}

export const GUILD_ROUTES: readonly Route[] = [
  {
    method: "GET",
    pattern: "/users/@me",
    run: ({ platform }) => ({
      ...userJson(platform.world.bot),
      verified: true,
      mfa_enabled: true,
      email: null,
    }),
  },
  {
    method: "GET",
    pattern: "/users/@me/guilds",
    run: ({ platform }) =>
      [...platform.world.guilds.values()].map((each) => ({
        id: each.id,
        name: each.name,
        icon: null,
        owner: false,
        permissions: "0",
        features: [],
      })),
  },
  {
    method: "DELETE",
    pattern: "/users/@me/guilds/:guild",
    run: (asked) => {
      leaveGuild(asked.platform, guildFor(asked));
      return undefined;
    },
  },
  { method: "POST", pattern: "/users/@me/channels", run: openDm },
  {
    method: "GET",
    pattern: "/users/:user",
    run: ({ platform, param }) => {
      const user = platform.world.users.get(param("user"));
      if (user === undefined) throw refusal("unknownUser");
      return userJson(user);
    },
  },
  {
    method: "GET",
    pattern: "/guilds/:guild",
    run: (asked) => {
      const guild = guildFor(asked);
      const counts = {
        approximate_member_count: guild.members.size,
        approximate_presence_count: 1,
      };
      return asked.query.get("with_counts") === "true"
        ? { ...guildJson(guild), ...counts }
        : guildJson(guild);
    },
  },
  {
    method: "GET",
    pattern: "/guilds/:guild/channels",
    run: (asked) => {
      const guild = guildFor(asked);
      return [...asked.platform.world.channels.values()]
        .filter((each) => each.guildId === guild.id && each.thread === undefined)
        .map((each) => channelJson(asked.platform.world, each));
    },
  },
  {
    method: "GET",
    pattern: "/guilds/:guild/roles",
    run: (asked) => [...guildFor(asked).roles.values()].map(roleJson),
  },
  { method: "GET", pattern: "/guilds/:guild/members", run: listMembers },
  { method: "GET", pattern: "/guilds/:guild/members/:user", run: getMember },
  { method: "GET", pattern: "/guilds/:guild/threads/active", run: activeThreads },
];
