import type { Logger } from "pino";
import type { Inbound } from "../inbox.ts";
import { botRefused } from "../render/phrases.ts";
import type { Bots } from "../shared/bots.ts";
import { noticeDelivery } from "../shared/notice-ids.ts";
import { isThreadType } from "./channels.ts";
import { type EarlierParts, wordsOfBot } from "./earlier.ts";
import type { ReceivedMessage } from "./payloads.ts";
import { actorOf } from "./people.ts";
import { timeOf } from "./place.ts";
import type { Say } from "./say.ts";
import type { Served } from "./tenants.ts";
import { mentions } from "./text.ts";

export interface BotParts {
  bot: string;
  bots: Bots;
  heard: EarlierParts["heard"];
  served: Served;
  say: Say;
  /** The kind of the channel, where it is known. */
  kindOf(said: ReceivedMessage): number | undefined;
  /** False when too many messages wait to be recorded. */
  record(lane: string, said: ReceivedMessage, text: string): boolean;
  log: Logger;
}

export function isFromBot({ author, webhook_id }: Pick<ReceivedMessage, "author" | "webhook_id">) {
  return author.bot === true || webhook_id !== undefined;
}

/** A bot's message: nothing in it is a command. */
export function outputOf({ author, mentions: people }: ReceivedMessage, text: string, bot: string) {
  const address = mentions(people, bot) ? { bot: true as const } : {};
  const actor = actorOf(author, undefined);
  return { kind: "text", app: true, actor, text, address } as const satisfies Inbound;
}

/**
 * Takes what other bots, apps and webhooks post: of a listed one what begins a thread or mentions the bot; any other that
 * mentions it is told once why it is not answered.
 */
export function createBotTaker({ bot, bots, heard, served, say, kindOf, record, log }: BotParts) {
  return (event: unknown, said: ReceivedMessage): void => {
    const { id, guild_id: guild, channel_id: channel, author, webhook_id, application_id } = said;
    const ids = [author.id, webhook_id, application_id];
    // A bot can't write to another one directly.
    if (ids.includes(bot) || guild === undefined || !served.has(guild)) return;
    const isMentioned = mentions(said.mentions, bot);
    const name = author.id;
    if (!bots.isListed(ids)) {
      if (!isMentioned || !bots.mayRefuse(name, { channel })) return;
      const text = botRefused("discord.bots", name);
      void say({ guild, channel }, text, noticeDelivery("bot", name, true));
      return;
    }
    const kind = kindOf(said);
    const isReply = kind !== undefined && isThreadType(kind) && id !== channel;
    const text = wordsOfBot(event, { bot, heard });
    if (text === undefined || (isReply && !isMentioned)) return;
    if (!bots.mayBegin(name, { message: id, at: timeOf(id) })) return;
    if (record(isReply ? channel : id, said, text)) return;
    log.error({ channel, message: id }, "a message was dropped: too many wait for the store");
  };
}
