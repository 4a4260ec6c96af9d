import {
  type APIApplication,
  type APIGatewayBotInfo,
  type APIGuildMember,
  type APIUser,
  ApplicationFlags as Flags,
  Routes,
} from "discord.js";
import { isBotError, messageOf } from "../../core/errors.ts";
import type { PlatformFinding as Finding } from "../adapter.ts";
import { createSocket } from "../shared/sockets.ts";
import type { Api } from "./api.ts";
import { type Channels, missingAmong, NEEDED_BITS } from "./channels.ts";
import { outdatedCommands } from "./command-definitions.ts";
import { shardOf, type Shards, showShards } from "./shards.ts";
import { type Guild, guildOf, IF_NOT_YOURS, listGuilds, severalText } from "./tenants.ts";

const GATEWAY_MS = 5_000;

const PORTAL = "under Bot, Privileged Gateway Intents, at discord.com/developers/applications";

/** What says which servers are served. */
interface Serving {
  configured: readonly string[] | undefined;
  /** What the store has of it. */
  kept: string | undefined;
  /** Those of this process. */
  shards: Shards | undefined;
}

/** What Discord says of the token, the application and its settings. @throws BotError what `Api.ask` throws */
export async function examine(api: Api, serving: Serving): Promise<Finding[]> {
  const user = await api.ask<APIUser>("get", Routes.user());
  const application = await api.ask<APIApplication>("get", Routes.currentApplication());
  const guilds = await listGuilds(api);
  const { flags, id } = application;
  const hasContent = has(flags, Flags.GatewayMessageContent | Flags.GatewayMessageContentLimited);
  const hasMembers = has(flags, Flags.GatewayGuildMembers | Flags.GatewayGuildMembersLimited);
  return [
    { ok: true, text: `The token is ${user.username}'s (application ${id}).` },
    ...(await examineGateway(api, serving.shards)),
    hasContent
      ? { ok: true, text: "Message Content Intent is on." }
      : {
          ok: false,
          text: `Message Content Intent is off; switch it on ${PORTAL}. Without it the bot cannot connect.`,
        },
    {
      ok: true,
      text: hasMembers
        ? "Server Members Intent is on: roles can be approvers."
        : `Server Members Intent is off: roles such as discord:role:1122 cannot be approvers. If they are to be, switch it on ${PORTAL}.`,
    },
    {
      ok: guilds.length > 0,
      text: `The bot is in ${guilds.length === 1 ? "1 server" : `${guilds.length} servers`}. Invite it with ${inviteLink(id)}`,
    },
    ...examineGuilds(guilds, serving, application),
    await examineCommands(api, id),
    examinePublic(application),
  ];
}

/** Why the bot can say nothing in the channel. @throws BotError what `Api.ask` throws, but for what Discord refuses */
export async function examineChannel(
  api: Api,
  channels: Channels,
  named: string,
): Promise<string | undefined> {
  const [, guild = "", id = ""] = named.split(":");
  try {
    const found = await channels.channel(id);
    if (!("guild_id" in found) || found.guild_id !== guild)
      return `Discord: ${named} is in another server.`;
    const { id: user } = await api.ask<APIUser>("get", Routes.user());
    const { roles } = await api.ask<APIGuildMember>("get", Routes.guildMember(guild, user));
    const missing = missingAmong(await channels.permissions(guild, id, { user, roles }));
    return missing.length === 0
      ? undefined
      : `Discord: the bot lacks ${missing.join(", ")} in ${named}.`;
  } catch (error) {
    if (!isBotError(error, "PLATFORM_REFUSED")) throw error;
    return `Discord: the bot can't see ${named}. ${error.message}`;
  }
}

type Public = Pick<APIApplication, "bot_public">;

function examineGuilds(
  guilds: readonly Guild[],
  { configured, kept, shards }: Serving,
  application: Public,
): Finding[] {
  const ids = configured ?? (kept === undefined ? undefined : [guildOf(kept)]);
  if (ids === undefined) {
    const [only, another] = guilds;
    if (only === undefined) return [];
    if (another !== undefined) return [{ ok: false, text: severalText(guilds) }];
    const text = `It will serve ${only.name} (${only.id}) and no other server.`;
    return application.bot_public
      ? [{ ok: true, weak: true, text: `${text} Anybody may have added it there. ${IF_NOT_YOURS}` }]
      : [{ ok: true, text }];
  }
  const served = guilds.filter(({ id }) => ids.includes(id));
  const missing = ids.filter((id) => !served.some((guild) => guild.id === id));
  const names = served.map(({ id, name }) => `${name} (${id})`).join(", ");
  return [
    { ok: served.length > 0, text: `It serves ${names || "none of the servers that it is in"}.` },
    ...(missing.length === 0
      ? []
      : [{ ok: false, text: `It is not in ${missing.join(", ")}, which it is to serve.` }]),
    ...examineShards(served, shards),
  ];
}

/** Servers that only another process hears. */
function examineShards(served: readonly Guild[], shards: Shards | undefined): Finding[] {
  if (shards === undefined) return [];
  const { ids, count } = shards;
  const elsewhere = served
    .map(({ id, name }) => ({ name, shard: shardOf(id, count) }))
    .filter(({ shard }) => !ids.includes(shard));
  const own = `This process connects ${showShards(shards)}`;
  if (elsewhere.length === 0)
    return [{ ok: true, text: `${own}, which all these servers are on.` }];
  const named = elsewhere.map(({ name, shard }) => `${name} (shard ${shard})`).join(", ");
  return [{ ok: true, text: `${own}; another one has to connect those of ${named}.` }];
}

async function examineCommands(api: Api, application: string): Promise<Finding> {
  const outdated = await outdatedCommands(api, application);
  if (outdated.length === 0) return { ok: true, text: "Discord has /wk and the message commands." };
  const names = outdated.map(({ name }) => name).join(", ");
  return { ok: true, text: `Discord gets these commands at the next start: ${names}.` };
}

/** Whoever knows its id, which is no secret, can add a public bot to a server of their own. */
function examinePublic({ bot_public }: Public): Finding {
  return bot_public
    ? {
        ok: true,
        weak: true,
        text: 'Anybody can add the bot to a server of theirs. What comes from there is refused; still, switch off "Public Bot" (Bot, at discord.com/developers/applications; before that set Installation, Install Link to None).',
      }
    : { ok: true, text: "Only its owner can add the bot to servers." };
}

/** Bits may be several; one is enough. */
function has(flags: number, bits: number): boolean {
  return (flags & bits) !== 0;
}

/** Lets people add the bot to a server with every permission that it needs, and no other. */
function inviteLink(application: string): string {
  const query = new URLSearchParams({
    client_id: application,
    scope: "bot applications.commands",
    permissions: NEEDED_BITS.toString(),
  });
  return `https://discord.com/oauth2/authorize?${query.toString()}`;
}

async function examineGateway(api: Api, own: Shards | undefined): Promise<Finding[]> {
  const route = Routes.gatewayBot();
  const { url, shards, session_start_limit } = await api.ask<APIGatewayBotInfo>("get", route);
  const { remaining, total } = session_start_limit;
  try {
    await openSocket(url);
  } catch (error) {
    const text = `The gateway ${url} cannot be reached (${messageOf(error)}); outgoing WebSocket connections are needed.`;
    return [{ ok: false, text }];
  }
  const left = `${remaining} of ${total} new sessions are left today.`;
  const few = `Discord recommends ${shards} shards, and DISCORD_SHARDS has ${own?.count}.`;
  return [
    { ok: remaining > 0, text: `The gateway answers; ${left}` },
    ...(own !== undefined && own.count < shards
      ? [{ ok: true, weak: true as const, text: few }]
      : []),
  ];
}

/** Resolves when the server has taken a connection, which is closed again. */
async function openSocket(url: string): Promise<void> {
  const socket = createSocket(`${url}?v=10&encoding=json`);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error(`no answer in ${GATEWAY_MS} ms`)), GATEWAY_MS);
  socket.addEventListener("open", () => resolve());
  socket.addEventListener("error", () => reject(new Error("the connection failed")));
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}
