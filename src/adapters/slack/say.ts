import type { Logger } from "pino";
import type { Delivery } from "../view.ts";
import { renderText } from "../render/message.ts";
import { slackMessages } from "./encode.ts";
import type { Place } from "./place.ts";
import type { Posting } from "./posting.ts";

/** Posts a sentence of ours, which links to nothing. Never fails. */
export type Say = (place: Place, text: string, delivery: Delivery) => Promise<void>;

export function createSay(posting: Pick<Posting, "put">, log: Logger): Say {
  return async (place, text, delivery) => {
    try {
      const messages = slackMessages(await renderText(text, () => false));
      await posting.put(place, messages, delivery);
    } catch (error) {
      log.debug({ err: error, delivery: delivery.id }, "people could not be told");
    }
  };
}
