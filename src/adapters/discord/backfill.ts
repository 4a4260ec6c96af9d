import { type APIMessage, Routes } from "discord.js";
import type { Logger } from "pino";
import type { Queries } from "../queries.ts";
import { unreadWhileAway } from "../render/phrases.ts";
import { LOOK_BACK_MS, splitMissed, withoutOver } from "../shared/absence.ts";
import { noticeDelivery } from "../shared/notice-ids.ts";
import type { Api } from "./api.ts";
import { beginningsIn, conversationAt, firstOf } from "./conversations.ts";
import type { Connection } from "./connection.ts";
import { keyOf, type Place, timeOf, tryPlace } from "./place.ts";
import type { Say } from "./say.ts";
import type { Served } from "./tenants.ts";

/** Each costs a request; those written in last come first. */
const MAX_THREADS = 25;
const MAX_CHANNELS = 15;
/** As many as Discord gives at once. */
const MAX_MESSAGES = 100;
/** Of a channel's questions that are too old, so many are told so, in the channel. */
const MAX_TOLD = 1;

export interface BackfillParts {
  api: Api;
  connection: Pick<Connection, "ownThreads" | "textChannels">;
  served: Served;
  queries: Pick<Queries, "recent" | "isPosted" | "beginnings">;
  say: Say;
  /** The session that began brings the events of this server, or of direct messages. */
  hears(guild: string | undefined): boolean;
  hear(event: unknown): void;
  /** What a message of a listed bot tells of alerts; nothing for any other. */
  alertsIn: Parameters<typeof withoutOver<unknown>>[1];
  /** A person wrote it; in a channel, to the bot. */
  isQuestion(message: unknown, isThread: boolean): boolean;
  log: Logger;
}

/**
 * Reads what may have come while nobody listened, oldest first: Discord repeats events only for a session that it resumes. The
 * bot's own threads, those and direct messages that were worked on lately, and questions to the bot in channels. What is in a
 * journal already is left out; what is too old is said there, once. Never fails.
 */
export async function backfill(parts: BackfillParts): Promise<void> {
  const { connection, served, queries, hears, log } = parts;
  const since = Date.now() - LOOK_BACK_MS;
  try {
    const recent = (await queries.recent("discord:", since)).flatMap((key) => {
      const place = tryPlace(key);
      return place === undefined ? [] : [firstOf(place)];
    });
    const own = newestFirst(connection.ownThreads(), since);
    const threads = new Map([...own, ...recent].map((place) => [place.channel, place]));
    const channels = newestFirst(connection.textChannels(), since);
    const isServed = ({ guild }: Place) =>
      hears(guild) && (guild === undefined || served.has(guild));
    for (const place of [...threads.values()].filter(isServed).slice(0, MAX_THREADS))
      await readAgain(parts, place, { since, isThread: true });
    for (const place of channels.filter(isServed).slice(0, MAX_CHANNELS))
      await readAgain(parts, place, { since, isThread: false });
  } catch (error) {
    log.warn({ err: error }, "what was written during the absence could not be read");
  }
}

function newestFirst(found: ReturnType<Connection["ownThreads"]>, since: number): Place[] {
  return found
    .flatMap(({ id, guild, newest }) =>
      newest !== undefined && timeOf(newest) > since ? [{ channel: id, guild, newest }] : [],
    )
    .toSorted((a, b) => timeOf(b.newest) - timeOf(a.newest));
}

async function readAgain(
  { api, queries, say, hear, alertsIn, isQuestion, log }: BackfillParts,
  place: Place,
  { since, isThread }: { since: number; isThread: boolean },
): Promise<void> {
  const { guild, channel } = place;
  try {
    const route = Routes.channelMessages(channel);
    const query = { limit: MAX_MESSAGES };
    const answer = await api.ask<APIMessage[]>("get", route, { query });
    const found = answer.filter(({ id }) => timeOf(id) > since).toReversed();
    const beginnings = await beginningsIn(place, queries);
    const { taken, left } = await splitMissed(
      found.map((each) => {
        const post = `msg:${each.id}`;
        const at = isThread ? place : { guild, channel: each.id };
        // What begins a conversation stands in the first.
        const own = beginnings.includes(post)
          ? at
          : conversationAt(at, post, beginnings, each.referenced_message?.id);
        const message = { ...each, ...(guild !== undefined && { guild_id: guild }) };
        return {
          message,
          at: timeOf(each.id),
          key: keyOf(own),
          post,
          isQuestion: isQuestion(message, isThread),
        };
      }),
      { queries, isThread },
    );
    for (const { message, at } of left.slice(-MAX_TOLD))
      await say(place, unreadWhileAway(at), noticeDelivery("away", message.id, true));
    for (const message of withoutOver(taken, alertsIn)) hear(message);
  } catch (error) {
    log.debug({ err: error, channel }, "a place could not be read again");
  }
}
