import { type APIUser, Routes } from "discord.js";
import type { Logger } from "pino";
import { atMost } from "../../core/time-limit.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { ChatParts } from "../adapter.ts";
import type { Delivery } from "../view.ts";
import { renderProgress } from "../render/progress.ts";
import { createPace } from "../shared/pace.ts";
import { createBots } from "../shared/bots.ts";
import { createProgressBoard, type ProgressBoard } from "../shared/progress-board.ts";
import type { ThreadSign } from "../shared/sign.ts";
import { createInteractionReplies } from "./interaction-replies.ts";
import type { Api } from "./api.ts";
import type { Channels } from "./channels.ts";
import { discordMessages } from "./encode.ts";
import { type Connection, type ConnectionOptions, createConnection } from "./connection.ts";
import { createEntrance } from "./entrance.ts";
import { isSilence } from "./errors.ts";
import { createDiscordFiles } from "./files.ts";
import { createInteractions } from "./interactions.ts";
import { createMessages } from "./messages.ts";
import { backfill } from "./backfill.ts";
import { createBegin, createBeneath } from "./begin.ts";
import { registerCommands } from "./command-definitions.ts";
import { createDoors } from "./doors.ts";
import { keyOf, type Place } from "./place.ts";
import { createPosting, type Posting } from "./posting.ts";
import { shardOf, showShards } from "./shards.ts";
import { createSay, isWithin } from "./say.ts";
import { threadName } from "./text.ts";
import { createThreadOpener } from "./threads.ts";
import { createThumbsUp, createTyping } from "./typing.ts";
import { createQuietLog } from "../shared/quiet-log.ts";
import type { DiscordPeople } from "./people.ts";
import { type Guild, onJoined, type Served, settleServed } from "./tenants.ts";
import { createEphemeralMessages, type EphemeralMessages } from "./ephemeral.ts";

/** Events in progress at the end have this long; Discord would not wait longer for a click's answer. */
const STOP_MS = 3_000;

export interface DiscordOptions extends ConnectionOptions {
  /** Ids of the servers that are served. Default: the one that the bot is in at its first start, for ever. */
  guilds?: readonly string[] | undefined;
  /** Ids of bots and webhooks that may begin an investigation. */
  bots?: readonly string[] | undefined;
}

export interface SessionParts extends ChatParts, DiscordOptions {
  api: Api;
  channels: Channels;
  people: DiscordPeople;
  /** Told before the first event. */
  onServed(served: Served): void;
}

export interface Session {
  bot: string;
  posting: Posting;
  ephemeralMessages: EphemeralMessages;
  board: ProgressBoard<Place>;
  sign: ThreadSign<Place>;
  connection: Connection;
  /** Begins the thread of somebody's message, if it has none. @throws BotError PLATFORM_REFUSED when none can be opened */
  beneath(channel: string, thread: JournalKey, name: string): Promise<boolean>;
  /** Begins a thread with a message of ours. @throws BotError PLATFORM_REFUSED when none can be opened */
  begin(at: { guild: string; channel: string }, text: string, delivery: Delivery): Promise<Place>;
  /** Takes no more events; those already taken have up to 3 s to be recorded. */
  close(): Promise<void>;
}

/** Resolves once events arrive. @throws BotError PLATFORM_REFUSED, PLATFORM_UNREACHABLE, PLATFORM_RATE_LIMITED */
export async function openSession(parts: SessionParts): Promise<Session> {
  const { api, channels, people, inbox, queries, encode, apiUrl, shards, log } = parts;
  // Here a bad token is recognised; at the gateway other failures look the same.
  const { id: bot, username } = await api.ask<APIUser>("get", Routes.user());
  const served = await settleServed({ ...parts, configured: parts.guilds });
  parts.onServed(served);
  const quietly = createQuietLog(log);
  const connection = createConnection({ ...parts, bot });
  const pace = createPace({ platform: "Discord", isSilence, log });
  const posting = createPosting(api, bot, pace);
  const ephemeralMessages = createEphemeralMessages(api, pace);
  const say = createSay(posting, log);
  const board = createBoard(posting, log);
  const sign = createTyping(api, log);
  const openThread = createThreadOpener({ api, pace, bot, channels, say, log });
  const messages = createMessages({
    bot,
    api,
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
    alerts: parts.alerts,
    log,
    quietly,
  });
  const replies = createInteractionReplies(api, log);
  const interact = createInteractions({ replies, ephemeralMessages, inbox, queries, log });
  const begin = createBegin(posting, openThread, log);
  const { record } = messages;
  const doors = createDoors({ ...parts, replies, served, begin, openThread, record });
  const enter = createEntrance({ interact, doors, replies, served, people, log, quietly });
  const { receive = (take) => take() } = parts;
  const { pending, during } = createPending(log);
  const { hear } = messages;
  await connection.open({
    onMessage: hear,
    onChanged: messages.change,
    onReaction: messages.react,
    onInteraction: (event) => during(receive(() => enter(event))),
    onJoined: (guild, owner) =>
      during(onJoined(served, { ...parts, say, bot: username }, { ...guild, owner })),
    onSession: (hears) =>
      during(backfill({ ...messages, hears, api, connection, served, queries, say, log })),
  });
  // They are the application's: one process is enough.
  if (shards === undefined || shards.ids.includes(0)) during(registerCommands(api, log));
  sayConnected(served.guilds, username, parts);
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
    async begin(at, text, delivery) {
      const { type: kind } = await channels.channel(at.channel);
      const said = { text, name: threadName(text, "") };
      return (await begin({ ...at, kind }, said, delivery)).place;
    },
    beneath: createBeneath({ api, channels, connection, served, openThread }),
    close: () => (closed ??= close()),
  };
}

/** Says which servers it hears, and that those of other shards need another process. */
function sayConnected(
  guilds: readonly Guild[],
  bot: string,
  { shards, log }: Pick<SessionParts, "shards" | "log">,
): void {
  const isHeard = ({ id }: Guild) =>
    shards === undefined || shards.ids.includes(shardOf(id, shards.count));
  const named = (some: readonly Guild[]) => some.map(({ name }) => name).join(", ");
  const [heard, others] = [guilds.filter(isHeard), guilds.filter((each) => !isHeard(each))];
  const here = shards === undefined ? "" : ` (${showShards(shards)})`;
  if (heard.length > 0)
    log.info(`Connected to ${named(heard)} as @${bot}${here}. Try: @${bot} help.`);
  else if (shards !== undefined && !shards.ids.includes(0))
    log.warn(`no server that is served is on ${showShards(shards)}`);
  if (others.length > 0)
    log.info({ servers: named(others) }, "heard by the process that has their shards");
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
