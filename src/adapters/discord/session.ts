import { randomUUID } from "node:crypto";
import { type APIUser, Routes } from "discord.js";
import type { Logger } from "pino";
import { atMost } from "../../core/time-limit.ts";
import type { ChatParts } from "../adapter.ts";
import { renderProgress } from "../render/progress.ts";
import { createPace } from "../shared/pace.ts";
import { createBots } from "../shared/bots.ts";
import { createProgressBoard, type ProgressBoard } from "../shared/progress-board.ts";
import type { ThreadSign } from "../shared/sign.ts";
import { createInteractionReplies } from "./interaction-replies.ts";
import type { Api } from "./api.ts";
import type { Channels } from "./channels.ts";
import { discordMessages } from "./encode.ts";
import { type Connection, createConnection } from "./connection.ts";
import { createEntrance } from "./entrance.ts";
import { isSilence } from "./errors.ts";
import { createDiscordFiles } from "./files.ts";
import { createInteractions } from "./interactions.ts";
import { createMessages } from "./messages.ts";
import { backfill } from "./backfill.ts";
import { createBegin } from "./begin.ts";
import { registerCommands } from "./command-definitions.ts";
import { createDoors } from "./doors.ts";
import { keyOf, type Place } from "./place.ts";
import { createPosting, type Posting } from "./posting.ts";
import { createSay, isWithin } from "./say.ts";
import { threadName } from "./text.ts";
import { createThreadOpener } from "./threads.ts";
import { createThumbsUp, createTyping } from "./typing.ts";
import { createQuietLog } from "../shared/quiet-log.ts";
import type { DiscordPeople } from "./people.ts";
import { onJoined, type Served, settleServed } from "./tenants.ts";
import { createEphemeralMessages, type EphemeralMessages } from "./ephemeral.ts";

/** Events in progress at the end have this long; Discord would not wait longer for a click's answer. */
const STOP_MS = 3_000;

export interface SessionParts extends ChatParts {
  token: string;
  apiUrl: string | undefined;
  api: Api;
  channels: Channels;
  people: DiscordPeople;
  /** Ids of the servers that are served, where they are configured. */
  guilds: readonly string[] | undefined;
  /** Ids of bots and webhooks that may begin an investigation. */
  bots: readonly string[] | undefined;
  /** Told before the first event. */
  onServed(served: Served): void;
  log: Logger;
}

export interface Session {
  bot: string;
  posting: Posting;
  ephemeralMessages: EphemeralMessages;
  board: ProgressBoard<Place>;
  sign: ThreadSign<Place>;
  connection: Connection;
  /** Begins a thread with a message of ours. @throws BotError PLATFORM_REFUSED when none can be opened */
  begin(at: { guild: string; channel: string }, text: string): Promise<Place>;
  /** Takes no more events; those already taken have up to 3 s to be recorded. */
  close(): Promise<void>;
}

/** Resolves once events arrive. @throws BotError PLATFORM_REFUSED, PLATFORM_UNREACHABLE, PLATFORM_RATE_LIMITED */
export async function openSession(parts: SessionParts): Promise<Session> {
  const { token, apiUrl, api, channels, people, inbox, queries, encode, log } = parts;
  // Here a bad token is recognised; at the gateway other failures look the same.
  const { id: bot, username } = await api.ask<APIUser>("get", Routes.user());
  const served = await settleServed({ ...parts, configured: parts.guilds });
  parts.onServed(served);
  const quietly = createQuietLog(log);
  const connection = createConnection({ token, apiUrl, bot, log });
  const pace = createPace({ platform: "Discord", isSilence, log });
  const posting = createPosting(api, bot, pace);
  const ephemeralMessages = createEphemeralMessages(api, pace);
  const say = createSay(posting, log);
  const board = createBoard(posting, log);
  const sign = createTyping(api, log);
  const openThread = createThreadOpener({ api, bot, channels, say, log });
  const messages = createMessages({
    bot,
    channels,
    posting,
    openThread,
    say,
    inbox,
    queries,
    encode,
    isThanks: parts.isThanks,
    onThanks: createThumbsUp(api, log),
    readFiles: createDiscordFiles(apiUrl, log),
    heard: connection,
    served,
    people,
    bots: createBots(parts.bots, log),
    log,
    quietly,
  });
  const replies = createInteractionReplies(api, log);
  const interact = createInteractions({ replies, ephemeralMessages, inbox, queries, log });
  const begin = createBegin(posting, openThread, log);
  const { record } = messages;
  const doors = createDoors({ ...parts, replies, served, begin, openThread, record });
  const enter = createEntrance({ interact, doors, replies, served, people, log, quietly });
  const { pending, during } = createPending(log);
  const { hear } = messages;
  await connection.open({
    onMessage: hear,
    onChanged: messages.change,
    onInteraction: (event) => during(enter(event)),
    onJoined: (guild, owner) =>
      during(onJoined(served, { ...parts, say, bot: username }, { ...guild, owner })),
    onSession: () => during(backfill({ ...messages, api, connection, served, queries, say, log })),
  });
  during(registerCommands(api, log));
  if (served.names !== "")
    log.info(`Connected to ${served.names} as @${username}. Try: @${username} help.`);
  async function close(): Promise<void> {
    board.stop();
    sign.stop();
    await connection.close();
    const ended = Promise.all([messages.stop(), ...pending]);
    await atMost(STOP_MS, ended, () => {});
  }
  let closed: Promise<void> | undefined;
  return {
    bot,
    posting,
    ephemeralMessages,
    board,
    sign,
    connection,
    async begin(at, text) {
      const { type: kind } = await channels.channel(at.channel);
      const said = { text, name: threadName(text, "") };
      const delivery = { id: randomUUID(), isRetry: false };
      return (await begin({ ...at, kind }, said, delivery)).place;
    },
    close: () => (closed ??= close()),
  };
}

/** What was begun and has not ended. */
function createPending(log: Logger) {
  const pending = new Set<Promise<void>>();
  const during = (work: Promise<void>) => {
    const failed = (error: unknown) => log.error({ err: error }, "an event could not be taken");
    const ended = work.catch(failed).finally(() => pending.delete(ended));
    pending.add(ended);
  };
  return { pending, during };
}

function createBoard(posting: Posting, log: Logger): ProgressBoard<Place> {
  return createProgressBoard<Place>({
    async show(place, ref, progress) {
      const [message] = discordMessages(await renderProgress(progress, isWithin(place)));
      return message === undefined || posting.edit(place, ref, message);
    },
    threadOf: keyOf,
    postCounts: true,
    log,
  });
}
