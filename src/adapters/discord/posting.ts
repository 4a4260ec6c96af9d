import { createHash } from "node:crypto";
import { type APIMessage, RESTJSONErrorCodes as Code, Routes } from "discord.js";
import { BotError } from "../../core/errors.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { Delivery, MessageRef } from "../adapter.ts";
import type { Api } from "./api.ts";
import type { DiscordMessage } from "./encode.ts";
import { isCode, REFUSED_MS } from "./errors.ts";
import { keyOf, type Place } from "./place.ts";

/** Messages among which an earlier attempt's is looked for: what Discord gives at once at the most. */
const SEARCHED = 100;

/** How messages get into a thread and out of it. Everything throws what `Api.ask` throws. */
export interface Posting {
  /**
   * Posts one message after the other, as parts of one delivery. Parts that an earlier attempt posted are brought up to
   * date instead; `begun` becomes the first. When one fails, those before it stay for the next attempt to find.
   */
  put(
    place: Place,
    messages: readonly DiscordMessage[],
    delivery: Delivery,
    begun?: MessageRef,
  ): Promise<MessageRef>;
  edit(place: Place, message: string, body: DiscordMessage): Promise<void>;
  /** Not there any more is as good as deleted. What one person alone saw stays. */
  remove(place: Place, ref: MessageRef): Promise<void>;
}

/** A reference to several messages names them all; one in another channel with that, as `channel/message`. */
export function messagesOf(ref: MessageRef): string[] {
  return ref.split(",");
}

/** In a reference, in place of the channel: only Discord and one person know of the message. */
export const EPHEMERAL = "ephemeral";

/** The body of a request. The components hold text as data, and nothing in it may ping. */
export function bodyOf({ flags, components }: DiscordMessage) {
  return { flags, components, allowed_mentions: { parse: [], replied_user: false } };
}

export function createPosting(api: Api, bot: string): Posting {
  /** Asks, and once more after an archived thread has been opened again. */
  async function reopening<T>({ channel }: Place, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!isCode(error, Code.InvalidActionOnArchivedThread)) throw error;
      try {
        await api.ask("patch", Routes.channel(channel), { body: { archived: false } });
      } catch (refused) {
        throw refusedToReopen(refused);
      }
      return ask();
    }
  }

  async function post(place: Place, message: DiscordMessage, mark: Mark): Promise<string> {
    const body = { ...bodyOf(message), nonce: mark.nonce, enforce_nonce: true };
    const route = Routes.channelMessages(place.channel);
    const posted = await reopening(place, () => api.ask<{ id: string }>("post", route, { body }));
    return posted.id;
  }

  async function edit(place: Place, id: string, message: DiscordMessage): Promise<void> {
    const route = Routes.channelMessage(place.channel, id);
    await reopening(place, () => api.ask("patch", route, { body: bodyOf(message) }));
  }

  /** False when the message is gone or too old for another edit: then a new one takes its place. */
  async function replace(place: Place, id: string, message: DiscordMessage): Promise<boolean> {
    try {
      await edit(place, id, message);
      return true;
    } catch (error) {
      if (isCode(error, Code.UnknownMessage)) return false;
      if (!isCode(error, Code.MaximumNumberOfEditsToMessagesOlderThanOneHourReached)) throw error;
      await remove(place, id);
      return false;
    }
  }

  async function remove(place: Place, ref: MessageRef): Promise<void> {
    for (const each of messagesOf(ref)) {
      const [message = "", channel = place.channel] = each.split("/").toReversed();
      if (channel === EPHEMERAL) continue;
      try {
        const route = Routes.channelMessage(channel, message);
        await reopening({ ...place, channel }, () => api.ask("delete", route));
      } catch (error) {
        if (!isCode(error, Code.UnknownMessage, Code.UnknownChannel)) throw error;
      }
    }
  }

  return {
    edit,
    remove,

    async put(place, messages, { id, isRetry: again, orphan: stray }, begun) {
      const left = stray === undefined ? [] : [markOf(keyOf(place), stray, 0)];
      for (const message of (await find(api, bot, place, left)).values())
        await remove(place, message);
      const marked = messages.map((message, part) => {
        const mark = markOf(keyOf(place), id, part);
        return { mark, message: withMark(message, mark) };
      });
      const marks = marked.map(({ mark }) => mark);
      const there = await find(api, bot, place, again ? marks : []);
      if (begun !== undefined) there.set(0, begun);
      const refs: string[] = [];
      for (const [part, { mark, message }] of marked.entries()) {
        const earlier = there.get(part);
        const stands = earlier !== undefined && (await replace(place, earlier, message));
        refs.push(stands ? earlier : await post(place, message, mark));
      }
      return refs.join(",");
    },
  };
}

/** Which of the marked messages stand among the thread's newest, by their number. */
async function find(
  api: Api,
  bot: string,
  { channel }: Place,
  marks: readonly Mark[],
): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  if (marks.length === 0) return found;
  const query = { limit: SEARCHED };
  const newest = await api.ask<APIMessage[]>("get", Routes.channelMessages(channel), { query });
  for (const { id, author, components } of newest) {
    const part = marks.findIndex((mark) => components?.[0]?.id === mark.id);
    if (part >= 0 && author.id === bot) found.set(part, id);
  }
  return found;
}

/** How a part of a delivery is known again: by Discord for some minutes, by us in the message itself. */
interface Mark {
  /** At most 25 characters. */
  nonce: string;
  /** Of the message's first component: 32 bits with a sign, not 0. */
  id: number;
}

function markOf(key: JournalKey, delivery: string, part: number): Mark {
  const hash = createHash("sha256").update(`${key}\n${delivery}\n${part}`).digest();
  return {
    nonce: hash.toString("base64url").slice(0, 24),
    id: hash.readUInt32BE() & 0x7f_ff_ff_ff || 1,
  };
}

function withMark(message: DiscordMessage, { id }: Mark): DiscordMessage {
  const [first, ...rest] = message.components;
  return first === undefined ? message : { ...message, components: [{ ...first, id }, ...rest] };
}

function refusedToReopen(error: unknown): unknown {
  if (!isCode(error, Code.MissingPermissions, Code.MissingAccess, Code.ThreadLocked)) return error;
  return new BotError(
    "PLATFORM_REFUSED",
    "The thread is archived and locked; a moderator can unlock it, or ask again elsewhere.",
    { cause: error, retryAfterMs: REFUSED_MS },
  );
}
