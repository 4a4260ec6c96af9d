import type { Logger } from "pino";
import { atMost } from "../../core/time-limit.ts";
import type { Queries } from "../queries.ts";
import { unreadWhileAway } from "../render/phrases.ts";
import { LOOK_BACK_MS, splitMissed, withoutOver } from "../shared/absence.ts";
import { noticeDelivery } from "../shared/notice-ids.ts";
import type { Api } from "./api.ts";
import { isQuestion } from "./messages.ts";
import { type Place, tryPlace, type Workspace } from "./place.ts";
import { STOP_MS } from "./receiver.ts";
import type { Say } from "./say.ts";

/** Each thread and each channel costs a request or a few; those with the newest entries come first. */
const MAX_PLACES = 25;
const PAGE = 200;
const MAX_PAGES = 3;
/** Of a channel's questions that are too old, so many are told so, each in its thread. */
const MAX_TOLD = 5;

export interface BackfillParts {
  api: Api;
  workspace: Pick<Workspace, "team" | "botUser">;
  queries: Pick<Queries, "recent" | "isPosted">;
  say: Say;
  hear(event: unknown): Promise<void>;
  /** What a message of a listed bot tells of alerts; nothing for any other. */
  alertsIn: Parameters<typeof withoutOver<unknown>>[1];
  log: Logger;
}

/** `begin` reads beside all else; again only after an earlier reading ended. */
export function createBackfill(parts: BackfillParts) {
  const stopping = new AbortController();
  let reading = Promise.resolve();
  return {
    begin(): void {
      reading = reading.then(() => backfill(parts, stopping.signal));
    },
    async stop(): Promise<void> {
      stopping.abort();
      await atMost(STOP_MS, reading, () => {});
    },
  };
}

interface Message {
  ts?: string | undefined;
}

/**
 * Reads what was written while nobody listened, oldest first: in the threads that were worked on lately, and questions to
 * the bot in their channels. What is in a journal already is left out; what is too old is said there, once. Never fails.
 */
async function backfill(parts: BackfillParts, signal: AbortSignal): Promise<void> {
  const { workspace, queries, log } = parts;
  const { team } = workspace;
  try {
    const since = Date.now() - LOOK_BACK_MS;
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
  const { workspace, queries, say, hear, alertsIn, log } = parts;
  const { team, botUser } = workspace;
  const { channel, root } = reading;
  try {
    const found = await messagesOf(parts.api, reading);
    const isThread = root !== undefined;
    const { taken, left } = await splitMissed(
      found.map((each) => {
        const message = { ...each, channel };
        return {
          message,
          at: Number(each.ts) * 1_000,
          key: `slack:${team}:${channel}:${root ?? each.ts}` as const,
          post: `msg:${each.ts}`,
          isQuestion: isQuestion(message, isThread, botUser),
        };
      }),
      { queries, isThread },
    );
    for (const each of root === undefined ? left.slice(-MAX_TOLD) : left.slice(-1))
      await tellUnread(say, { channel, root: root ?? each.message.ts ?? "" }, each);
    for (const message of withoutOver(taken, alertsIn)) await hear(message);
  } catch (error) {
    log.debug({ err: error, channel, root }, "a place could not be read again");
  }
}

/** An earlier process may have said it. */
async function tellUnread(
  say: Say,
  place: Place,
  { message: { ts = "" }, at }: { message: Message; at: number },
): Promise<void> {
  await say(place, unreadWhileAway(at), noticeDelivery("away", ts, true));
}

/** Oldest first: a thread begins with its oldest, a channel with its newest messages. */
async function messagesOf(api: Api, { channel, root, oldest }: Reading): Promise<Message[]> {
  const found: Message[] = [];
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
