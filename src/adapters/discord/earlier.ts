import { MessageType, RESTJSONErrorCodes as Code, Routes } from "discord.js";
import * as z from "zod";
import { type Earlier, type EarlierMessage, MAX_EARLIER } from "../view.ts";
import { carriedBy, newestOf, readEarlier } from "../shared/earlier.ts";
import { withoutNulls } from "../shared/payload.ts";
import { answerWithin, type Api } from "./api.ts";
import type { Channels, ForumPost } from "./channels.ts";
import { isCode } from "./errors.ts";
import { user } from "./payloads.ts";
import { nameIn } from "./people.ts";
import { accountOf, type Place, timeOf } from "./place.ts";
import { content, joined, wordsOf, wordsOfForwarded } from "./read-content.ts";
import { type Names, readDiscordText } from "./text.ts";

const id = z.string().regex(/^\d{1,20}$/);
const single = content.extend({
  id,
  type: z.number().default(0),
  webhook_id: z.string().optional(),
  author: user,
  message_snapshots: z
    .array(z.object({ message: content }))
    .default([])
    .catch([]),
});
const shown = single.extend({ referenced_message: single.optional().catch(undefined) });
type Single = z.infer<typeof single>;
type Shown = z.infer<typeof shown>;

const SPOKEN: ReadonlySet<number> = new Set([
  MessageType.Default,
  MessageType.Reply,
  MessageType.ChatInputCommand,
  MessageType.ContextMenuCommand,
]);

/** Says which message a thread began with, by holding it. */
const STARTER: number = MessageType.ThreadStarterMessage;

/** Of a direct message's last lines. */
const MAX_FORWARDS = 10;

export interface EarlierParts {
  api: Api;
  channels: Pick<Channels, "channelOf" | "forumPost">;
  bot: string;
  /** Names for ids, as far as the gateway told of them. */
  heard: Pick<Names, "role" | "channel">;
}

/** Reads what stands above a message of this thread (`View.earlier`). */
export function createEarlier(place: Place, parts: EarlierParts) {
  return (before: string, after?: string): Promise<Earlier> =>
    readEarlier("Discord", explain, async (found, left) => {
      const { asked, about } = readPost(before) ?? {};
      const oldest = after === undefined ? undefined : readPost(after)?.asked;
      if (asked === undefined) return undefined;
      const inTime = <T>(request: Promise<T>) => answerWithin(left(), request, "Discord");
      const post = await inTime(parts.channels.forumPost(place.channel));
      // A thread has the id of the message that it began with, which stands in the channel; a forum's post is all of its own.
      const isRoot = post === undefined && asked === place.channel;
      const channel = isRoot ? await inTime(parentOf(place, parts)) : place.channel;
      const most = isRoot ? MAX_EARLIER.channel : MAX_EARLIER.thread;
      const query = { before: String(BigInt(asked) + 1n), limit: most + 2 };
      const route = Routes.channelMessages(channel);
      const answer = await inTime(parts.api.ask<unknown[]>("get", route, { query }));
      const all = answer.toReversed().flatMap(readShown);
      const question = all.find((each) => each.id === asked);
      const above = all
        .filter(
          (each) => each !== question && (oldest === undefined || BigInt(each.id) > BigInt(oldest)),
        )
        .map((each) => (each.type === STARTER ? (each.referenced_message ?? each) : each));
      // What it is about may be far above, or in the channel. The first message of a post says what the post is about.
      const firstId = about ?? (post && oldest === undefined ? place.channel : undefined);
      const isMissing = firstId !== undefined && !all.some((each) => isOf(each, firstId));
      const first = isMissing ? await inTime(readOne(place, firstId, post, parts)) : [];
      const referred = question?.referenced_message;
      const isThere = newestOf(above, most, !isRoot).some((each) => each.id === referred?.id);
      const answered = isThere ? undefined : referred;
      const room = most - first.length - (answered === undefined ? 0 : 1);
      const kept = newestOf(above, room, !isRoot);
      const told = [...first, ...kept, answered, question].filter((each) => each !== undefined);
      if (post !== undefined && oldest === undefined) found.push(titleOf(post, told));
      const around = new Set(isRoot ? kept.filter((each) => each.id !== referred?.id) : []);
      const asRead = (each: Single) =>
        messageOf(each, asked, parts).map((message) =>
          around.has(each) ? { ...message, around: true as const } : message,
        );
      found.push(...told.flatMap(asRead));
      // Without the permission Discord gives an empty list.
      if (answer.length === 0 && first.length === 0) return { why: NO_HISTORY };
      return kept.length < above.length ? { older: true } : undefined;
    });
}

/** In a direct message all is told already but what it forwards; without that it is answered as well as can be. */
export function createForwarded({ channel }: Place, parts: EarlierParts) {
  return async (before: string, after?: string): Promise<Earlier> => {
    const { asked = "" } = readPost(before) ?? {};
    const oldest = after === undefined ? undefined : readPost(after)?.asked;
    const { messages } = await readEarlier("Discord", explain, async (found, left) => {
      const query = { before: String(BigInt(asked) + 1n), limit: MAX_FORWARDS };
      const request = parts.api.ask<unknown[]>("get", Routes.channelMessages(channel), { query });
      const answer = await answerWithin(left(), request, "Discord");
      const isNew = ({ id: own }: Shown) =>
        own === asked || (oldest !== undefined && BigInt(own) > BigInt(oldest));
      const own = answer.toReversed().flatMap(readShown).filter(isNew);
      found.push(...own.flatMap((each) => messageOf(each, asked, parts)));
      return undefined;
    });
    return { messages: carriedBy(messages) };
  };
}

const NO_HISTORY = "I need the permission Read Message History";

async function parentOf(place: Place, { channels }: EarlierParts): Promise<string> {
  const key = await channels.channelOf(place);
  return key.slice(key.lastIndexOf(":") + 1);
}

/** It is the message, or shows it at the beginning of the thread. */
function isOf({ id: own, type, referenced_message }: Shown, message: string): boolean {
  return own === message || (type === STARTER && referenced_message?.id === message);
}

/** Empty for what is no message. */
function readShown(each: unknown): Shown[] {
  const { data } = shown.safeParse(withoutNulls(each));
  return data === undefined ? [] : [data];
}

/** One message of the thread, or the one in the channel that the thread began with; empty when it is gone. */
async function readOne(
  place: Place,
  message: string,
  post: ForumPost | undefined,
  parts: EarlierParts,
): Promise<Shown[]> {
  const isAbove = post === undefined && message === place.channel;
  const channel = isAbove ? await parentOf(place, parts) : place.channel;
  try {
    return readShown(await parts.api.ask("get", Routes.channelMessage(channel, message)));
  } catch (error) {
    if (isCode(error, Code.UnknownMessage)) return [];
    throw error;
  }
}

/** What the author of a post wrote above it. */
function titleOf({ id: thread, title, owner }: ForumPost, told: readonly Shown[]): EarlierMessage {
  const first = told.find((each) => each.id === thread);
  const isPerson =
    first !== undefined && first.author.bot !== true && first.webhook_id === undefined;
  return {
    id: `title:${thread}`,
    at: timeOf(thread),
    name: first === undefined ? "the post's author" : nameIn(first.author, undefined),
    account: isPerson && first.author.id === owner ? accountOf(owner) : undefined,
    text: `Title of this post: ${title}`,
  };
}

/** Posts are named `msg:<id>`; what was asked in a message's menu, `msg:<id>:on:<message>`. */
function readPost(post: string): { asked: string; about: string | undefined } | undefined {
  const [, asked, about] = /^msg:(\d{1,20})(?::edit:\d+|:on:(\d{1,20}))?$/.exec(post) ?? [];
  return asked === undefined ? undefined : { asked, about };
}

/** What a message says, whatever it is made of; empty for what is none. */
export function wordsIn(value: unknown): string {
  const read = content.safeParse(withoutNulls(value)).data;
  return read === undefined ? "" : wordsOf(read);
}

/** All that a bot's message says; undefined for what is none, or says nothing. */
export function wordsOfBot(event: unknown, parts: Pick<EarlierParts, "bot" | "heard">) {
  const said = shown.safeParse(withoutNulls(event)).data;
  const text = said && messageOf(said, "", parts)[0]?.text;
  return text === "" ? undefined : text;
}

function messageOf(
  each: Single,
  asked: string,
  parts: Pick<EarlierParts, "bot" | "heard">,
): EarlierMessage[] {
  const { author, webhook_id, type, mentions, message_snapshots } = each;
  const isOurs = author.id === parts.bot && webhook_id === undefined;
  if (isOurs || !SPOKEN.has(type)) return [];
  const named = [mentions, ...message_snapshots.map(({ message }) => message.mentions)].flat();
  const names = new Map(named.map((mention) => [mention.id, nameIn(mention, undefined)]));
  const read = (text: string) =>
    readDiscordText(text, { bot: parts.bot, user: (of) => names.get(of), ...parts.heard });
  const forwarded = message_snapshots.map(({ message }) => read(wordsOfForwarded(message)));
  const base = { id: `msg:${each.id}`, at: timeOf(each.id), name: nameIn(author, undefined) };
  const files = each.attachments.map(({ filename }) => filename);
  const withFiles = files.length > 0 ? { ...base, files } : base;
  if (author.bot === true || webhook_id !== undefined) {
    return [{ ...withFiles, account: undefined, text: joined(read(wordsOf(each)), ...forwarded) }];
  }
  const attached = joined(read(wordsOf({ ...each, content: "" })), ...forwarded);
  const text = each.id === asked ? "" : read(each.content);
  // The question itself is told as what it is; what it forwards is not its author's word.
  if (each.id === asked && attached === "") return [];
  const account = accountOf(author.id);
  return [{ ...withFiles, account, text, ...(attached !== "" && { attached }) }];
}

function explain(error: unknown): string | undefined {
  return isCode(error, Code.MissingAccess, Code.MissingPermissions, Code.UnknownChannel)
    ? "I can't see this channel's messages"
    : undefined;
}
