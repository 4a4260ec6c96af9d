import { aloudDelivery } from "../shared/aloud.ts";
import { RESTJSONErrorCodes as Code, Routes } from "discord.js";
import type { Logger } from "pino";
import { isBotError } from "../../core/errors.ts";
import type { MessageRef, Notice, View } from "../adapter.ts";
import type { ProgressBoard } from "../shared/progress-board.ts";
import { renderOutgoing } from "../render/message.ts";
import { renderCard, type RenderedMessage } from "../render/card.ts";
import type { Api } from "./api.ts";
import { discordMessages } from "./encode.ts";
import { isCode } from "./errors.ts";
import type { DiscordPeople } from "./people.ts";
import { accountOf, addressOf, type Place, tryUser } from "./place.ts";
import { messagesOf, type Posting } from "./posting.ts";
import { isWithin, noticeOf } from "./say.ts";
import type { EphemeralMessages } from "./ephemeral.ts";

export interface ViewParts {
  api: Api;
  posting: Posting;
  whispers: EphemeralMessages;
  board: ProgressBoard<Place>;
  people: DiscordPeople;
  log: Logger;
}

/** One thread, as everyone in it sees it. Throws what `Api.ask` throws; the outbox repeats it. */
export function createView(place: Place, parts: ViewParts): View {
  const { api, posting, whispers, board, people, log } = parts;

  /** What comes with every message until there is one: "Watchkeeper is typing". */
  function type(): void {
    api.ask("post", Routes.channelTyping(place.channel)).catch((error: unknown) => {
      log.debug({ err: error }, "typing could not be shown");
    });
  }

  return {
    async openProgress(delivery, soFar) {
      type();
      return board.begin(place, soFar, (told) =>
        // Progress is one message, whatever it holds.
        posting.put(place, discordMessages(told).slice(0, 1), delivery),
      );
    },

    progress(update, begun) {
      if (begun !== undefined) board.note(place, begun, update);
    },

    async post(message, delivery, begun) {
      if (begun !== undefined) await board.end(begun);
      const messages = discordMessages(await renderOutgoing(message, isWithin(place)));
      return posting.put(place, messages, delivery, begun);
    },

    async postPrivately(account, text, offer) {
      const user = tryUser(account);
      if (user === undefined) return sayAloud(account);
      const told = await noticeOf(text, place, offer);
      const messages = {
        here: discordMessages(told),
        elsewhere: discordMessages(withOrigin(told)),
      };
      try {
        return await whispers.say(place, user, messages);
      } catch (error) {
        if (!isBotError(error, "PLATFORM_REFUSED")) throw error;
        log.debug({ err: error }, "a person could not be told alone");
        const name = await people.nameOf(user, place).catch(() => accountOf(user));
        return sayAloud(name);
      }

      async function sayAloud(name: string): Promise<string> {
        const aloud = discordMessages(await noticeOf(`${name}: ${text}`, place));
        return posting.put(place, aloud, aloudDelivery(account, text));
      }
    },

    updateNotice: (ref, notice) => amend(place, posting, ref, notice),

    async postCard(card, delivery) {
      return posting.put(place, discordMessages(renderCard(card)), delivery);
    },

    async updateCard(ref, card) {
      const messages = discordMessages(renderCard(card));
      for (const [part, id] of messagesOf(ref).entries()) {
        const message = messages[part];
        if (message === undefined) continue;
        try {
          await posting.edit(place, id, message);
        } catch (error) {
          if (!isCode(error, Code.UnknownMessage)) throw error;
          log.warn({ key: card.key, action: card.action }, "a card is gone and stays so");
        }
      }
    },

    async delete(ref) {
      await board.end(ref);
      await posting.remove(place, ref);
    },
  };

  function withOrigin(told: RenderedMessage): RenderedMessage {
    const url = `${addressOf(place.guild)}${place.channel}`;
    return { ...told, blocks: [...told.blocks, { kind: "small", inlines: [{ text: url, url }] }] };
  }
}

async function amend(
  place: Place,
  posting: Posting,
  ref: MessageRef,
  notice: Notice | undefined,
): Promise<void> {
  if (notice === undefined) return posting.remove(place, ref);
  const messages = discordMessages(await renderOutgoing(notice, isWithin(place)));
  for (const [part, id] of messagesOf(ref).entries()) {
    const message = messages[part];
    // What one person alone sees stays as it was said.
    if (message === undefined || id.includes("/")) continue;
    await posting.edit(place, id, message).catch((error: unknown) => {
      if (!isCode(error, Code.UnknownMessage)) throw error;
    });
  }
}
