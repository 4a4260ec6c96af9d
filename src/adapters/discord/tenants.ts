import { Routes } from "discord.js";
import type { Logger } from "pino";
import { BotError, isBotError } from "../../core/errors.ts";
import type { Tenants } from "../adapter.ts";
import { noticeDelivery } from "../shared/notice-ids.ts";
import type { Api } from "./api.ts";
import { helloTo } from "./phrases.ts";
import type { Say } from "./say.ts";

export interface Guild {
  id: string;
  name: string;
}

/** Discord gives 200 at once, which is enough: more than two servers are only named. */
const PAGE = 200;
const MAX_NAMED = 10;

const NAME_ONE =
  "Name those that are served, by their ids with commas between, in DISCORD_GUILDS, or in discord.guilds of watchkeeper.yaml";

/** What to do about the server that is chosen when none is configured. */
export const IF_NOT_YOURS = `If it isn't yours, stop the bot. ${NAME_ONE}.`;

/** The servers that are served. All others are ignored: their people, messages and members. */
export interface Served {
  has(guild: string): boolean;
  readonly ids: readonly string[];
  /** Those of them that the bot is in. */
  readonly guilds: readonly Guild[];
}

/** Served before that is known: no server. */
export const NOTHING: Served = { has: () => false, ids: [], guilds: [] };

export interface ServedParts {
  api: Api;
  /** As configured; undefined: the one that the bot is in at its first start, for ever. */
  configured: readonly string[] | undefined;
  tenants: Tenants;
  log: Logger;
}

/** Every server that the bot is in, up to 200. @throws BotError what `Api.ask` throws */
export async function listGuilds(api: Api): Promise<Guild[]> {
  return api.ask<Guild[]>("get", Routes.userGuilds(), { query: { limit: PAGE } });
}

/**
 * Says which servers are served; leaves those that the bot was added to after that was settled.
 * @throws BotError PLATFORM_REFUSED when nothing says it and the bot is in several; else what `Api.ask` and the store throw
 */
export async function settleServed(parts: ServedParts): Promise<Served> {
  const { api, configured, log } = parts;
  const guilds = await listGuilds(api);
  const ids = configured ?? (await settled(guilds, parts));
  if (ids.length === 0) {
    log.warn("the bot is in no server yet, and serves none. Invite it, then start it again");
    return NOTHING;
  }
  const known = new Set(ids);
  const others = guilds.filter(({ id }) => !known.has(id));
  if (!guilds.some(({ id }) => known.has(id))) {
    log.warn({ served: ids }, "the bot is in none of the servers that are served");
  }
  for (const guild of others) {
    if (configured === undefined) await leaveGuild(parts, guild);
    // A typing mistake in the list must not make the bot leave.
    else
      log.warn(
        { guild: guild.id, name: guild.name },
        "a server is not served; what it sends is refused",
      );
  }
  return { has: (id) => known.has(id), ids, guilds: guilds.filter(({ id }) => known.has(id)) };
}

/** Empty: the bot is in no server, so nothing is settled yet. */
async function settled(
  guilds: readonly Guild[],
  { tenants, log }: Pick<ServedParts, "tenants" | "log">,
): Promise<string[]> {
  const kept = await tenants.kept("discord");
  if (kept !== undefined) return [guildOf(kept)];
  const [only, ...more] = guilds;
  if (only === undefined) return [];
  if (more.length > 0) throw new BotError("PLATFORM_REFUSED", severalText(guilds));
  const id = guildOf(await tenants.keep("discord", `discord:${only.id}`));
  // Whoever added a public bot to a server of theirs before this start would own it.
  log.warn(
    { guild: id, ...(id === only.id && { name: only.name }) },
    `no server is named, so the bot took the one that it is in and serves it alone from now on. ${IF_NOT_YOURS}`,
  );
  return [id];
}

/** What is said of several servers while nothing says which are served. */
export function severalText(guilds: readonly Guild[]): string {
  const named = guilds.slice(0, MAX_NAMED).map(({ id, name }) => `${name} (${id})`);
  const rest = guilds.length > MAX_NAMED ? ", and others" : "";
  return `The bot is in ${guilds.length} servers: ${named.join(", ")}${rest}. ${NAME_ONE}.`;
}

/** The id in what `Tenants` keeps. */
export function guildOf(tenant: string): string {
  return tenant.slice("discord:".length);
}

/**
 * What becomes of a server that the bot was added to while it runs: one that is not served is left, the owner of one that is
 * gets a private hello, as Discord does not say who added it. While nothing is settled it stays, for the next start. Never
 * fails: what an unserved one sends is refused all the same.
 */
export async function onJoined(
  served: Served,
  parts: Pick<ServedParts, "api" | "log"> & { say: Say; bot: string },
  guild: Guild & { owner: string },
): Promise<void> {
  if (served.has(guild.id)) return greet(parts, guild);
  if (served.ids.length > 0) return leaveGuild(parts, guild);
  const about = { guild: guild.id, name: guild.name };
  parts.log.warn(about, "the bot was added to a server; start it again to have it served");
}

/** Once for a server, whichever process hears of it. */
async function greet(
  { api, log, say, bot }: Parameters<typeof onJoined>[1],
  { id, name, owner }: Parameters<typeof onJoined>[2],
): Promise<void> {
  try {
    const body = { recipient_id: owner };
    const dm = await api.ask<{ id: string }>("post", Routes.userChannels(), { body });
    const place = { guild: undefined, channel: dm.id };
    await say(place, helloTo(bot, name), noticeDelivery("hello", id, true));
  } catch (error) {
    log.debug({ err: error, guild: id }, "the owner of a server could not be greeted");
  }
}

async function leaveGuild(
  { api, log }: Pick<ServedParts, "api" | "log">,
  { id, name }: Guild,
): Promise<void> {
  log.warn(
    { guild: id, name },
    `the bot was added to a server that is not served, and leaves it. ${NAME_ONE}`,
  );
  try {
    await api.ask("delete", Routes.userGuild(id));
  } catch (error) {
    // Another process of the bot may have been faster.
    const level = isBotError(error, "PLATFORM_REFUSED") ? "debug" : "warn";
    log[level]({ err: error, guild: id }, "a server could not be left");
  }
}
