import { RESTJSONErrorCodes as Code, Routes } from "discord.js";
import type { Logger } from "pino";
import { BotError } from "../../core/errors.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { Delivery, MessageRef } from "../view.ts";
import type { Api } from "./api.ts";
import { type Channels, isThreadType } from "./channels.ts";
import type { Connection } from "./connection.ts";
import { discordMessages } from "./encode.ts";
import { isCode } from "./errors.ts";
import { type Place, tryPlace } from "./place.ts";
import type { Posting } from "./posting.ts";
import { noticeOf } from "./say.ts";
import type { Served } from "./tenants.ts";
import { threadName } from "./text.ts";
import { type OpenThread, openThreadFor } from "./threads.ts";

/** Where a conversation begins with a message of ours. In a thread and a direct message it goes on there. */
export type Begin = (
  at: Place & { kind: number },
  said: { text: string; name: string },
  delivery: Delivery,
) => Promise<{ place: Place; message: MessageRef }>;

/**
 * Posts a message of ours and opens its thread; of several processes that do so with the same delivery, one message and one
 * thread come. @throws BotError PLATFORM_REFUSED when there can't be a thread, what `Api.ask` throws
 */
export function createBegin(posting: Posting, openThread: OpenThread, log: Logger): Begin {
  return async ({ kind, ...at }, { text, name }, delivery) => {
    const [first] = discordMessages(await noticeOf(text, at));
    const message = await posting.put(at, first === undefined ? [] : [first], delivery);
    const { guild, channel } = at;
    if (guild === undefined || isThreadType(kind)) return { place: at, message };
    try {
      const root = { guild, channel, message, kind, name };
      return { place: await openThreadFor(openThread, root), message };
    } catch (error) {
      await posting.remove(at, message).catch((cause: unknown) => {
        log.warn({ err: cause }, "the first message of a thread that was not opened stays");
      });
      throw error;
    }
  };
}

interface BeneathParts {
  api: Api;
  channels: Channels;
  connection: Pick<Connection, "kindOf">;
  served: Pick<Served, "has">;
  openThread: OpenThread;
}

/** Opens the thread of somebody's message, which may stand in a thread already; false where the message is gone. */
export function createBeneath({ api, channels, connection, served, openThread }: BeneathParts) {
  return async (named: string, thread: JournalKey, name: string): Promise<boolean> => {
    const [, guild = "", channel = ""] = named.split(":");
    const { channel: message } = tryPlace(thread) ?? { channel: "" };
    if (!served.has(guild) || message === "")
      throw new BotError("PLATFORM_REFUSED", `${named} is in no Discord server that is served.`);
    if (isThreadType(connection.kindOf(message) ?? -1)) return true;
    const { type: kind } = await channels.channel(channel);
    const root = { guild, channel, message, kind, name: threadName(name, "") };
    if ((await openThread(root)) !== undefined) return true;
    const isThere = async (route: ReturnType<typeof Routes.channel>) => {
      try {
        await api.ask("get", route);
        return true;
      } catch (error) {
        if (isCode(error, Code.UnknownMessage, Code.UnknownChannel)) return false;
        throw error;
      }
    };
    if (await isThere(Routes.channel(message))) return true;
    if (!(await isThere(Routes.channelMessage(channel, message)))) return false;
    throw new BotError("PLATFORM_REFUSED", `No thread can be opened in channel ${channel}.`);
  };
}
