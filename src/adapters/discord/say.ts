import type { Logger } from "pino";
import type { Delivery, MessageRef } from "../view.ts";
import type { Offer } from "../shown.ts";
import { renderText } from "../render/message.ts";
import type { RenderedMessage } from "../render/rich-text.ts";
import { discordMessages } from "./encode.ts";
import { addressOf, keyOf, type Place } from "./place.ts";
import type { Posting } from "./posting.ts";

/** True for addresses within the place's server: what a thread's own link begins with. */
export function isWithin({ guild }: Place): (url: string) => boolean {
  return (url) => url.startsWith(addressOf(guild));
}

export function noticeOf(text: string, place: Place, offer?: Offer): Promise<RenderedMessage> {
  return renderText(text, isWithin(place), offer);
}

/** Posts a sentence of ours. Never fails: undefined when that is not possible. */
export type Say = (
  place: Place,
  text: string,
  delivery: Delivery,
) => Promise<MessageRef | undefined>;

export function createSay(posting: Posting, log: Logger): Say {
  return async (place, text, delivery) => {
    try {
      return await posting.put(place, discordMessages(await noticeOf(text, place)), delivery);
    } catch (error) {
      log.warn({ err: error, key: keyOf(place) }, "a person could not be told");
      return undefined;
    }
  };
}
