import { LRUCache } from "lru-cache";
import { MessageType } from "discord.js";
import type { Logger } from "pino";
import type { Address } from "../../core/entry.ts";
import { BotError, isBotError } from "../../core/errors.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { AlertInbox, Inbound, Inbox } from "../inbox.ts";
import type { Queries } from "../queries.ts";
import type { Bots } from "../shared/bots.ts";
import type { ReadFiles } from "../shared/inbound-files.ts";
import type { Connection } from "./connection.ts";
import type { Api } from "./api.ts";
import { type Channels, isThreadType } from "./channels.ts";
import { beginningsIn, conversationAt, isNew } from "./conversations.ts";
import { attachedFile } from "./files.ts";
import { createChanges } from "./changes.ts";
import { createReactions } from "./reactions.ts";
import { createBotTaker, isFromBot, outputOf } from "./bots.ts";
import { wordsIn } from "./earlier.ts";
import { createRetryQueue } from "./retry-queue.ts";
import { readMessage, type ReceivedMessage } from "./payloads.ts";
import { actorOf, type DiscordPeople, nameIn } from "./people.ts";
import { accountOf, keyOf, type Place } from "./place.ts";
import { NOT_SERVED, UNRECORDED } from "./phrases.ts";
import type { Posting } from "./posting.ts";
import type { QuietLog } from "../shared/quiet-log.ts";
import { FORWARDED } from "../shared/phrases.ts";
import { addressOf } from "../shared/spoken-to.ts";
import { noticeDelivery } from "../shared/notice-ids.ts";
import type { Say } from "./say.ts";
import type { Served } from "./tenants.ts";
import { mentions, othersIn, readDiscordText, threadName, withOwnRole } from "./text.ts";
import type { OpenThread } from "./threads.ts";

/** Messages that wait in memory for a store that is away. */
const MAX_WAITING = 1_000;
const MAX_THREADS = 10_000;

/** Kinds of message that a person wrote; the others are Discord's own. */
const WRITTEN: ReadonlySet<number> = new Set([MessageType.Default, MessageType.Reply]);

type Heard = Pick<Connection, "role" | "channel" | "kindOf" | "isOwnThread" | "isOwnRole">;

export interface MessageParts {
  bot: string;
  api: Api;
  channels: Channels;
  posting: Posting;
  openThread: OpenThread;
  say: Say;
  inbox: Inbox;
  queries: Queries;
  encode(text: string): string;
  readFiles: ReadFiles;
  isThanks(text: string): boolean;
  onThanks(place: Place, message: string): void;
  /** What the gateway has said about roles and channels so far. */
  heard: Heard;
  served: Served;
  people: Pick<DiscordPeople, "membership" | "nameOf">;
  bots: Bots;
  alerts?: AlertInbox | undefined;
  log: Logger;
  quietly: QuietLog;
}

type Text = Extract<Inbound, { kind: "text" }>;

/** Where a message belongs, undefined if it is not for the bot; and what it says, undefined if that is nothing. */
interface Taken {
  placeOf(): Promise<Place | undefined>;
  read(key: JournalKey): Promise<Text | undefined>;
  /** The message that it replies to. */
  replied?: string | undefined;
}

/** Takes what people write. Discord sends a message only once, so it waits here until it is recorded. */
export function createMessages(parts: MessageParts) {
  const { bot, heard, served, log, quietly } = parts;
  const reader = createReader(parts);
  const placeOf = createPlacer(parts, reader);
  const own = (said: ReceivedMessage) => withOwnRole(said, bot, heard.isOwnRole);
  const lanes = createRetryQueue({
    max: MAX_WAITING,
    onFailed: (error) => log.error({ err: error }, "a message could not be taken"),
  });

  const taking = createJobs(parts);
  const others = createOthers(parts, { lanes, taking, placeOf });

  return {
    ...createChanges({
      ...parts,
      lanes,
      textOf: (said) => reader.text(own(said)),
      addressOf: (said, key) => reader.address(own(said), key),
      isWritten,
      takeOthers: others.takeChange,
    }),
    ...createReactions({ ...parts, lanes }),
    alertsIn: others.alertsIn,
    /** A person wrote something; in a channel, to the bot. */
    isQuestion(event: unknown, isThread: boolean): boolean {
      const said = readMessage(event);
      if (said === undefined || !isWritten(said)) return false;
      return mentions(own(said).mentions, bot) || (isThread && !isBlank(said, said.content));
    },
    /** Takes a message event; drops those that are not for the bot. */
    hear(event: unknown): void {
      const found = readMessage(event);
      if (found === undefined)
        return quietly("a message of an unknown form was dropped", "message");
      const said = own(found);
      const { id, guild_id: guild, channel_id: channel } = said;
      const kind = kindIn(said, heard);
      if (isFromBot(said)) return others.take(event, said);
      if (!isWritten(said)) return;
      if (guild !== undefined && !served.has(guild)) {
        return quietly("a message from a server that is not served was refused", guild);
      }
      const isAddressed = guild === undefined || mentions(said.mentions, bot);
      const isOpen = guild === undefined || kind === undefined || isThreadType(kind);
      // In a channel only a mention begins a conversation.
      if (!isAddressed && !isOpen) return;
      // A thread's messages are taken in order, the one that it begins with first.
      const lane = isOpen ? channel : id;
      const read = (key: JournalKey) => reader.read(said, key);
      const replied = said.referenced_message?.id;
      if (lanes.add(lane, taking(id, { placeOf: () => placeOf(said), read, replied }))) return;
      log.error({ channel, message: id }, "a message was dropped: too many wait for the store");
    },
    /**
     * Records what somebody had written there in their name. False: the store is away, which the thread was told; it is
     * tried again. @throws BotError STORE_UNAVAILABLE when too many wait already
     */
    record(place: Place, id: string, text: Text): Promise<boolean> {
      const { promise, resolve, reject } = Promise.withResolvers<boolean>();
      const job = taking(id, { placeOf: async () => place, read: async () => text });
      const isTaken = lanes.add(place.channel, async () => {
        try {
          await job();
          resolve(true);
        } catch (error) {
          resolve(false);
          throw error;
        }
      });
      if (!isTaken) reject(new BotError("STORE_UNAVAILABLE", "Too much waits for the store."));
      return promise;
    },
    /** Lets messages in progress be recorded; those that still wait are lost, and the log counts them. */
    async stop(): Promise<void> {
      const lost = await lanes.stop();
      if (lost > 0) log.error({ lost }, "messages were lost: the store did not come back in time");
    },
  };
}

/** Makes the job that records one message; it can be run again while the store is away. */
function createJobs({ inbox, say, queries, posting, isThanks, onThanks, log }: MessageParts) {
  return (id: string, { placeOf, read, replied }: Taken): (() => Promise<void>) => {
    let place: Place | undefined;
    let hasFailed = false;
    let notice: string | undefined;
    return async () => {
      place ??= await placeOf();
      if (place === undefined) return;
      let key = keyOf(place);
      // Files are downloaded only when the store answers again, so that they do not wait in memory.
      if (hasFailed) await queries.isKnown(key);
      const text = await read(key);
      if (text === undefined) return;
      const post = `msg:${id}`;
      try {
        const begins = isNew(place, text.text);
        if (!begins) {
          const beginnings = await beginningsIn(place, queries);
          key = keyOf(conversationAt(place, post, beginnings, replied));
        }
        await inbox.post(key, post, begins ? { ...text, begins } : text);
        if (place.guild === undefined && isThanks(text.text)) onThanks(place, id);
      } catch (error) {
        if (isBotError(error, "USAGE")) {
          // Trying again would not help. An earlier process may have said so already.
          const words = `${text.actor.name}: ${error.message}`;
          await say(place, words, noticeDelivery("usage", id, true));
          return;
        }
        log.warn({ err: error, key }, "a message is not recorded yet");
        hasFailed = true;
        notice ??= await say(place, UNRECORDED, noticeDelivery("unrecorded", id));
        throw error;
      }
      if (notice === undefined) return;
      await posting.remove(place, notice).catch((error: unknown) => {
        log.debug({ err: error, key }, "a notice could not be taken back");
      });
    };
  };
}

export type Messages = ReturnType<typeof createMessages>;

interface Taking {
  lanes: ReturnType<typeof createRetryQueue>;
  taking: ReturnType<typeof createJobs>;
  placeOf: ReturnType<typeof createPlacer>;
}

/** What takes other bots' messages. */
function createOthers(parts: MessageParts, { lanes, taking, placeOf }: Taking) {
  return createBotTaker({
    ...parts,
    kindOf: (said) => kindIn(said, parts.heard),
    later: lanes.add,
    record(lane, said, output) {
      const read = async () => outputOf(said, output, parts.bot);
      return lanes.add(lane, taking(said.id, { placeOf: () => placeOf(said, output), read }));
    },
  });
}

/** As the message says, or as the gateway said before. */
function kindIn({ channel_type, channel_id }: ReceivedMessage, heard: Heard): number | undefined {
  return channel_type ?? heard.kindOf(channel_id);
}

function isWritten({ author, webhook_id, type }: ReceivedMessage): boolean {
  return !isFromBot({ author, webhook_id }) && WRITTEN.has(type);
}

/** Neither words, nor a file, nor a forwarded message. */
function isBlank({ attachments, message_snapshots }: ReceivedMessage, text: string): boolean {
  return text === "" && attachments.length === 0 && message_snapshots.length === 0;
}

/** `quoted`: whose words the message that it replies to quotes, of another place of the thread. */
function readAddress(said: ReceivedMessage, bot: string, quoted: string | undefined): Address {
  const { content, mentions: people, guild_id: guild, author, referenced_message: above } = said;
  const others = othersIn(content, bot);
  const direct = guild === undefined;
  if (quoted !== undefined) {
    // A reply mentions whom it replies to, here the bot: only what was typed tells.
    const isToBot = new RegExp(`<@!?${bot}>`).test(content);
    return addressOf({ bot: isToBot, direct }, [{ account: quoted, at: "reply" }, ...others]);
  }
  const isToBot = mentions(people, bot) || above?.author.id === bot;
  const to = above?.author;
  const isToPerson = to !== undefined && to.bot !== true && to.id !== author.id && to.id !== bot;
  const replied = isToPerson ? [{ account: accountOf(to.id), at: "reply" as const }] : [];
  return addressOf({ bot: isToBot, direct }, [...replied, ...others]);
}

function createReader({ bot, heard, queries, readFiles }: MessageParts) {
  function textOf({ content, mentions: people, mention_roles }: ReceivedMessage): string {
    const names = new Map(people.map((each) => [each.id, nameIn(each, each.member?.nick)]));
    return readDiscordText(content, {
      bot,
      user: (id) => names.get(id),
      role: (id) => (mention_roles.includes(id) ? heard.role(id) : undefined),
      channel: heard.channel,
    });
  }

  async function address(said: ReceivedMessage, key: JournalKey): Promise<Address> {
    const above = said.referenced_message;
    const quoted = above?.author.id === bot ? await queries.quoted(key, above.id) : undefined;
    return readAddress(said, bot, quoted);
  }

  return {
    address,
    /** What was typed, as a command or a model reads it. */
    text: textOf,
    /** Undefined for what has no words and no files, such as a sticker, and is not to the bot. */
    async read(said: ReceivedMessage, key: JournalKey): Promise<Text | undefined> {
      const text = textOf(said);
      const isEmpty = isBlank(said, text);
      const to = await address(said, key);
      if (isEmpty && to.bot !== true && to.direct !== true) return undefined;
      const attached = await readFiles(said.attachments.map(attachedFile));
      const isForward = text === "" && said.attachments.length === 0;
      return {
        kind: "text",
        actor: actorOf(said.author, said.member?.nick),
        text: isEmpty ? "help" : isForward ? FORWARDED : text,
        address: to,
        ...attached,
      };
    },
  };
}

/** Says where a message belongs, if it is for the bot; opens its thread if it has none yet. */
function createPlacer(parts: MessageParts, reader: ReturnType<typeof createReader>) {
  const { bot, channels, queries, heard, people, say, openThread, quietly } = parts;
  const ours = new LRUCache<string, true>({ max: MAX_THREADS });

  async function isOurs(place: Place): Promise<boolean> {
    const key = keyOf(place);
    if (ours.has(key)) return true;
    if (!heard.isOwnThread(place.channel) && !(await queries.isKnown(key))) return false;
    ours.set(key, true);
    return true;
  }

  /** A direct message is taken only from members of a served server. */
  async function admitted(
    place: Place,
    { id, author }: ReceivedMessage,
  ): Promise<Place | undefined> {
    const account = accountOf(author.id);
    if ((await people.membership(account, keyOf(place))) !== "unknown") return place;
    quietly("a direct message of somebody in no server that is served was refused", account);
    await say(place, NOT_SERVED, noticeDelivery("refused", id));
    return undefined;
  }

  return async (said: ReceivedMessage, output?: string): Promise<Place | undefined> => {
    const { id, guild_id: guild, channel_id: channel } = said;
    const place = { guild, channel };
    if (guild === undefined) return admitted(place, said);
    if (output === undefined && !mentions(said.mentions, bot))
      return (await isOurs(place)) ? place : undefined;
    const kind = kindIn(said, heard) ?? (await channels.channel(channel)).type;
    if (isThreadType(kind)) return place;
    const name = threadName(
      parts.encode(output?.split("\n")[0] ?? (alertIn(said, bot) || reader.text(said))),
      nameIn(said.author, said.member?.nick),
    );
    return openThread({ guild, channel, message: id, kind, name });
  };
}

/** What the alert says that it replies to: the thread is about that, as where it is looked into from its menu. */
function alertIn({ referenced_message: above }: ReceivedMessage, bot: string): string {
  const isAlert = above !== undefined && above.author.id !== bot && isFromBot(above);
  return isAlert ? wordsIn(above) : "";
}
