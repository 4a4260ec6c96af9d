import type { Logger } from "pino";
import type { Delivery, MessageRef } from "../view.ts";
import { isThreadType } from "./channels.ts";
import { discordMessages } from "./encode.ts";
import type { Place } from "./place.ts";
import type { Posting } from "./posting.ts";
import { noticeOf } from "./say.ts";
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
