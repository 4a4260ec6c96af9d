import { createHash } from "node:crypto";
import { type APIMessage, RESTJSONErrorCodes as Code, Routes } from "discord.js";
import { BotError } from "../../core/errors.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { MessageRef } from "../view.ts";
import {
  deliverParts,
  EPHEMERAL,
  partsOf,
  type Posting as ChatPosting,
} from "../shared/posting.ts";
import type { Pace } from "../shared/pace.ts";
import type { Api } from "./api.ts";
import { withConversation } from "./conversations.ts";
import type { DiscordMessage } from "./encode.ts";
import { isCode, REFUSED_MS } from "./errors.ts";
import { ARCHIVED } from "./phrases.ts";
import { keyOf, type Place } from "./place.ts";

/** An earlier attempt's message is looked for among so many, the most that Discord gives at once. */
const SEARCHED = 100;

export type Posting = ChatPosting<Place, DiscordMessage>;

/** The body of a request. The components hold text as data, and nothing in it may ping; a post adds whom the program mentions. */
export function bodyOf({ flags, files, ...message }: DiscordMessage, at: Pick<Place, "since">) {
  // Those that an edit does not name are taken off the message.
  const attachments = files?.map(({ name }, id) => ({ id, filename: name }));
  const quiet = { allowed_mentions: { parse: [], replied_user: false } };
  const components = withConversation(message.components, at);
  return { flags, components, ...(attachments !== undefined && { attachments }), ...quiet };
}

function filesOf({ files }: DiscordMessage) {
  return files === undefined ? {} : { files };
}

/** One message at a time. */
function createSender(api: Api, pace: Pace) {
  /** Opens an archived thread again if need be, and repeats the request once. */
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

  async function post(
    place: Place,
    message: DiscordMessage,
    mark: Mark,
    isUrgent: boolean | undefined,
  ): Promise<string> {
    const { repliedUser: _, ...allowed } = message.allowedMentions;
    const mentioning = { allowed_mentions: { ...allowed, replied_user: false } };
    const once = { nonce: mark.nonce, enforce_nonce: true };
    const route = Routes.channelMessages(place.channel);
    const body = { ...bodyOf(message, place), ...mentioning, ...once };
    const request = { body, ...filesOf(message) };
    const posted = await pace.ask({ name: `post ${place.channel}`, isUrgent }, () =>
      reopening(place, () => api.ask<{ id: string }>("post", route, request)),
    );
    return posted.id;
  }

  async function edit(
    place: Place,
    id: string,
    message: DiscordMessage,
    isUrgent?: boolean,
  ): Promise<boolean> {
    const route = Routes.channelMessage(place.channel, id);
    const request = { body: bodyOf(message, place), ...filesOf(message) };
    try {
      // What limits the edits of an old message leaves newer ones alone.
      await pace.ask({ name: `edit ${id}`, isUrgent }, () =>
        reopening(place, () => api.ask("patch", route, request)),
      );
      return true;
    } catch (error) {
      if (isCode(error, Code.UnknownMessage)) return false;
      throw error;
    }
  }

  /** False when the message is gone or too old for another edit: then a new one takes its place. */
  async function replace(
    place: Place,
    id: string,
    message: DiscordMessage,
    isUrgent: boolean | undefined,
  ): Promise<boolean> {
    try {
      return await edit(place, id, message, isUrgent);
    } catch (error) {
      if (!isCode(error, Code.MaximumNumberOfEditsToMessagesOlderThanOneHourReached)) throw error;
      await remove(place, id);
      return false;
    }
  }

  async function remove(place: Place, ref: MessageRef): Promise<void> {
    for (const part of partsOf(ref)) {
      const [message = "", channel = place.channel] = part.split("/").toReversed();
      if (channel === EPHEMERAL) continue;
      try {
        const route = Routes.channelMessage(channel, message);
        await pace.ask({ name: `delete ${channel}` }, () =>
          reopening({ ...place, channel }, () => api.ask("delete", route)),
        );
      } catch (error) {
        if (!isCode(error, Code.UnknownMessage, Code.UnknownChannel)) throw error;
      }
    }
  }

  return { post, edit, replace, remove };
}

export function createPosting(api: Api, bot: string, pace: Pace): Posting {
  const { post, edit, replace, remove } = createSender(api, pace);
  return {
    edit,
    remove,

    put(place, messages, delivery) {
      const markFor = (id: string, part: number) => markOf(keyOf(place), id, part);
      const { isUrgent } = delivery;
      return deliverParts(messages, delivery, {
        find(id, count) {
          const marks = Array.from({ length: count }, (_, part) => markFor(id, part));
          const lane = { name: `find ${place.channel}`, isUrgent };
          return pace.ask(lane, () => find(api, bot, place, marks));
        },
        // A message that is edited keeps its mark, so that it is found again.
        edit: (id, message, part) =>
          replace(place, id, withMark(message, markFor(delivery.id, part)), isUrgent),
        post(message, part) {
          const mark = markFor(delivery.id, part);
          return post(place, withMark(message, mark), mark, isUrgent);
        },
        remove: (id) => remove(place, id),
      });
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
  const query = { limit: SEARCHED };
  const newest = await api.ask<APIMessage[]>("get", Routes.channelMessages(channel), { query });
  for (const { id, author, components } of newest) {
    const part = marks.findIndex((mark) => components?.[0]?.id === mark.id);
    if (part >= 0 && author.id === bot) found.set(part, id);
  }
  return found;
}

/** How a part of a delivery is recognised: by Discord for some minutes, later by us in the message itself. */
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

/** A message that is edited keeps the mark of its delivery, so that it is found again. */
export function stamped(place: Place, message: DiscordMessage, delivery: string): DiscordMessage {
  return withMark(message, markOf(keyOf(place), delivery, 0));
}

/** Whether that delivery made a message with these components. */
export function isStamped(
  place: Place,
  components: APIMessage["components"],
  delivery: string,
): boolean {
  return components?.[0]?.id === markOf(keyOf(place), delivery, 0).id;
}

function withMark(message: DiscordMessage, { id }: Mark): DiscordMessage {
  const [first, ...rest] = message.components;
  return first === undefined ? message : { ...message, components: [{ ...first, id }, ...rest] };
}

function refusedToReopen(error: unknown): unknown {
  if (!isCode(error, Code.MissingPermissions, Code.MissingAccess, Code.ThreadLocked)) return error;
  return new BotError("PLATFORM_REFUSED", ARCHIVED, {
    cause: error,
    retryAfterMs: REFUSED_MS,
    refused: "place",
  });
}
