import type { Logger } from "pino";
import type { AlertInbox, Inbound } from "../inbox.ts";
import { botRefused } from "../render/phrases.ts";
import type { Bots } from "../shared/bots.ts";
import { noticeDelivery } from "../shared/notice-ids.ts";
import { botMessageOf } from "./bot-message.ts";
import { type Channels, isThreadType } from "./channels.ts";
import { type EarlierParts, wordsOfBot } from "./earlier.ts";
import { readEdited, readMessage, type ReceivedMessage } from "./payloads.ts";
import { actorOf } from "./people.ts";
import { keyOf, timeOf } from "./place.ts";
import type { Say } from "./say.ts";
import type { Served } from "./tenants.ts";
import { mentions } from "./text.ts";

export interface BotParts {
  bot: string;
  bots: Bots;
  heard: EarlierParts["heard"];
  served: Served;
  channels: Pick<Channels, "channelOf">;
  alerts?: AlertInbox | undefined;
  say: Say;
  /** Has the work done after all else of that lane, again and again while the store is away; false when too much waits. */
  later(lane: string, job: () => Promise<void>): boolean;
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
 * Takes what other bots, apps and webhooks post: of a listed one alerts, also those that a message is changed into, and else what
 * begins a thread or mentions the bot; any other that mentions it is told once why it is not answered.
 */
export function createBotTaker(parts: BotParts) {
  const { bot, bots, served, say, kindOf, alerts, later, log } = parts;

  const isOthers = (ids: readonly unknown[], { guild_id: guild }: ReceivedMessage) =>
    // A bot can't write to another one directly.
    !ids.includes(bot) && guild !== undefined && served.has(guild);

  const isReply = (said: ReceivedMessage) => {
    const kind = kindOf(said);
    return kind !== undefined && isThreadType(kind) && said.id !== said.channel_id;
  };

  /** What it says now, unless that is no alert. `edit`: when it was changed into that, ms. */
  async function isAlert(event: unknown, said: ReceivedMessage, edit?: number): Promise<boolean> {
    const { id, guild_id: guild, channel_id, author } = said;
    const actor = actorOf(author, undefined);
    const message = botMessageOf(event, actor.name);
    if (alerts === undefined || message === undefined) return false;
    const isInThread = isReply(said);
    const thread = keyOf({ guild, channel: isInThread ? channel_id : id });
    const channel = isInThread
      ? await parts.channels.channelOf({ guild, channel: channel_id })
      : `discord:${guild}:${channel_id}`;
    const [post, at] =
      edit === undefined ? [`msg:${id}`, timeOf(id)] : [`msg:${id}:edit:${edit}`, edit];
    return alerts.take({ channel, thread, post, at, actor, message });
  }

  /** What is no alert: a model looks into it. */
  function begin(event: unknown, said: ReceivedMessage): void {
    const { id, channel_id: channel, author } = said;
    const text = wordsOfBot(event, parts);
    if (text === undefined || (isReply(said) && !mentions(said.mentions, bot))) return;
    if (!bots.mayBegin(author.id, { message: id, at: timeOf(id) })) return;
    if (parts.record(isReply(said) ? channel : id, said, text)) return;
    dropped(said);
  }

  const dropped = ({ channel_id: channel, id }: ReceivedMessage) =>
    log.error({ channel, message: id }, "a message was dropped: too many wait for the store");

  return {
    /** What a message of a listed one tells of alerts; nothing for any other. */
    alertsIn(event: unknown): ReturnType<AlertInbox["read"]> {
      const said = readMessage(event);
      if (said === undefined || !isFromBot(said)) return [];
      const { author, webhook_id, application_id } = said;
      const ids = [author.id, webhook_id, application_id];
      const actor = actorOf(author, undefined);
      const message = botMessageOf(event, actor.name);
      if (alerts === undefined || message === undefined || !isOthers(ids, said)) return [];
      return bots.isListed(ids) ? alerts.read({ actor, message }) : [];
    },
    take(event: unknown, said: ReceivedMessage): void {
      const { channel_id: channel, author, webhook_id, application_id } = said;
      const ids = [author.id, webhook_id, application_id];
      if (!isOthers(ids, said)) return;
      const { guild_id: guild } = said;
      const name = author.id;
      if (!bots.isListed(ids)) {
        if (!mentions(said.mentions, bot) || !bots.mayRefuse(name, { channel })) return;
        const text = botRefused("discord.bots", name);
        void say({ guild, channel }, text, noticeDelivery("bot", name, true));
        return;
      }
      // In order, so that no alert is over before it fires.
      const isTaken = later(channel, async () => {
        if (!(await isAlert(event, said))) begin(event, said);
      });
      if (!isTaken) dropped(said);
    },
    /** Takes what a message of a listed one was changed into. */
    takeChange(event: unknown): void {
      const { said, at } = readEdited(event) ?? {};
      if (said === undefined || !isFromBot(said)) return;
      const ids = [said.author.id, said.webhook_id, said.application_id];
      if (!isOthers(ids, said) || !bots.isListed(ids)) return;
      later(said.channel_id, async () => void (await isAlert(event, said, at)));
    },
  };
}
