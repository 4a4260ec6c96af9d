import type { Logger } from "pino";
import { atMost } from "../../core/time-limit.ts";
import type { Queries } from "../adapter.ts";
import type { Api } from "./api.ts";
import { tryPlace } from "./place.ts";
import { STOP_MS } from "./receiver.ts";

/** Each thread and each channel costs a request or a few; those with the newest entries come first. */
const MAX_PLACES = 25;
const PAGE = 200;
const MAX_PAGES = 3;
/** As far back as it looks: a journal knows its events again for at least a day. */
const MAX_AGE_MS = 12 * 3_600_000;

export interface BackfillParts {
  api: Api;
  team: string;
  queries: Pick<Queries, "recent" | "isSaid">;
  hear(event: unknown): Promise<void>;
  log: Logger;
}

/** `begin` reads beside all else. */
export function createBackfill(parts: BackfillParts) {
  const stopping = new AbortController();
  let reading: Promise<void> | undefined;
  return {
    begin(): void {
      reading = backfill(parts, stopping.signal);
    },
    async stop(): Promise<void> {
      stopping.abort();
      await atMost(STOP_MS, reading ?? Promise.resolve(), () => {});
    },
  };
}

interface Found {
  ts?: string | undefined;
}

/**
 * Reads what was written while nobody listened, oldest first: in the threads that were worked on lately, and questions to
 * the bot in their channels. What is in a journal already is left out. Never fails.
 */
async function backfill(parts: BackfillParts, signal: AbortSignal): Promise<void> {
  const { team, queries, log } = parts;
  try {
    const since = Date.now() - MAX_AGE_MS;
    const keys = await queries.recent(`slack:${team}:`, since);
    if (keys.length > MAX_PLACES)
      log.warn(
        { left: keys.length - MAX_PLACES },
        "some threads are not read again after the absence",
      );
    const places = keys.slice(0, MAX_PLACES).flatMap((key) => tryPlace(key, team) ?? []);
    const channels = [...new Set(places.map(({ channel }) => channel))];
    const oldest = (since / 1_000).toFixed(6);
    for (const { channel, root } of places) {
      if (signal.aborted) return;
      await readAgain(parts, { channel, root, oldest });
    }
    for (const channel of channels) {
      if (signal.aborted) return;
      await readAgain(parts, { channel, root: undefined, oldest });
    }
  } catch (error) {
    log.warn({ err: error }, "what was written during the absence could not be read");
  }
}

interface Reading {
  channel: string;
  /** Of a thread; undefined: the channel itself. */
  root: string | undefined;
  oldest: string;
}

async function readAgain(parts: BackfillParts, reading: Reading): Promise<void> {
  const { team, queries, hear, log } = parts;
  const { channel, root } = reading;
  try {
    const found = await messagesOf(parts.api, reading);
    const isSaid = await Promise.all(
      found.map(({ ts }) => queries.isSaid(`slack:${team}:${channel}:${root ?? ts}`, `msg:${ts}`)),
    );
    // What others said in a thread before the bot was in it is not for the bot.
    const first = root === undefined ? 0 : Math.max(0, isSaid.indexOf(true));
    const missed = found.filter((_, at) => at >= first && isSaid[at] === false);
    for (const message of missed) await hear({ ...message, channel });
  } catch (error) {
    log.debug({ err: error, channel, root }, "a place could not be read again");
  }
}

/** Oldest first: a thread begins with its oldest, a channel with its newest messages. */
async function messagesOf(api: Api, { channel, root, oldest }: Reading): Promise<Found[]> {
  const found: Found[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const more = { channel, oldest, limit: PAGE, ...(cursor !== undefined && { cursor }) };
    const answer =
      root === undefined
        ? await api.ask("conversations.history", (client) => client.conversations.history(more))
        : await api.ask("conversations.replies", (client) =>
            client.conversations.replies({ ...more, ts: root }),
          );
    found.push(...(answer.messages ?? []));
    cursor = answer.response_metadata?.next_cursor || undefined;
    if (cursor === undefined) break;
  }
  return root === undefined ? found.toReversed() : found;
}
