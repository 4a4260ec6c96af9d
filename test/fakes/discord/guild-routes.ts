import { leaveGuild } from "./furnishing.ts";
import { channelJson, guildJson, memberJson, userJson } from "./payloads.ts";
import { invalidForm, refusal } from "./refusals.ts";
import type { Answer, Asked, Route } from "./route.ts";
import { dmWith, type FakeGuild } from "./world.ts";

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
  { method: "GET", pattern: "/guilds/:guild", run: (asked) => guildJson(guildFor(asked)) },
  { method: "GET", pattern: "/guilds/:guild/members", run: listMembers },
  { method: "GET", pattern: "/guilds/:guild/members/:user", run: getMember },
];
