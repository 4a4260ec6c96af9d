import { type APIMessage, Routes } from "discord.js";
import type { Logger } from "pino";
import type { Api } from "./api.ts";
import type { Connection } from "./connection.ts";
import { firstIdAt, timeOf } from "./place.ts";

/** Each thread costs a request; those written in last come first. */
const MAX_THREADS = 25;
const MAX_MESSAGES = 25;
/** A journal knows its events again for at least a day. */
const MAX_AGE_MS = 12 * 3_600_000;

export interface BackfillParts {
  api: Api;
  ownThreads: Connection["ownThreads"];
  hear(event: unknown): void;
  log: Logger;
}

/**
 * Reads the newest messages of the bot's own threads, some of which may have come while nobody listened: Discord repeats events
 * only for a session that it resumes. Messages that are in the journal already change nothing. Never fails.
 */
export async function backfill({ api, ownThreads, hear, log }: BackfillParts): Promise<void> {
  const after = Date.now() - MAX_AGE_MS;
  const recent = ownThreads()
    .flatMap(({ id, guild, newest }) => (newest === undefined ? [] : [{ id, guild, newest }]))
    .filter(({ newest }) => timeOf(newest) > after)
    .toSorted((a, b) => timeOf(b.newest) - timeOf(a.newest))
    .slice(0, MAX_THREADS);
  for (const { id, guild } of recent) {
    try {
      const query = { limit: MAX_MESSAGES };
      const newest = await api.ask<APIMessage[]>("get", Routes.channelMessages(id), { query });
      const oldestFirst = newest.toReversed();
      for (const message of oldestFirst) {
        if (BigInt(message.id) > BigInt(firstIdAt(after))) hear({ ...message, guild_id: guild });
      }
    } catch (error) {
      log.debug({ err: error, thread: id }, "a thread could not be read again");
    }
  }
}
