import type { Logger } from "pino";
import type { Offer, Outgoing, View } from "../adapter.ts";
import type { ProgressBoard } from "../shared/progress-board.ts";
import { aloudDelivery } from "../shared/aloud.ts";
import { renderOutgoing, renderText } from "../render/message.ts";
import { renderCard } from "../render/card.ts";
import { slackMessages } from "./encode.ts";
import { type Place, tryAccount } from "./place.ts";
import { isPrivate, type Posting, timestampsOf } from "./posting.ts";
import type { SessionStatus } from "./status.ts";

export interface ViewParts {
  posting: Posting;
  board: ProgressBoard<Place>;
  status(place: Place, status: SessionStatus): void;
  allowLink(url: string): boolean;
  /** The display name, or undefined when it cannot be had quickly. */
  nameOf(user: string): Promise<string | undefined>;
  log: Logger;
}

/** One thread, as everyone in it sees it. Throws what the Web API answers; the outbox repeats it. */
export function createView(place: Place, parts: ViewParts): View {
  const { posting, board, status, allowLink } = parts;

  const noticeOf = async (text: string, offer?: Offer) =>
    slackMessages(await renderText(text, allowLink, offer));

  return {
    async openProgress(delivery, soFar) {
      const ref = await board.begin(place, soFar, (told) =>
        // Progress is one message, whatever it holds.
        posting.put(place, slackMessages(told).slice(0, 1), delivery),
      );
      status(place, "processing");
      return ref;
    },

    progress(update, begun) {
      if (begun !== undefined) board.note(place, begun, update);
    },

    async post(message, delivery, begun) {
      if (begun !== undefined) await board.end(begun);
      const messages = slackMessages(await renderOutgoing(message, allowLink));
      const ref = await posting.put(place, messages, delivery, begun);
      const after = statusAfter(message);
      if (after !== undefined) status(place, after);
      return ref;
    },

    async postPrivately(account, text, offer) {
      const user = tryAccount(account)?.user ?? account;
      const whispered = await posting.whisper(place, user, await noticeOf(text, offer));
      if (whispered !== undefined) return whispered;
      // What comes after it must not wait for ever for a person who cannot be written to.
      const aloud = `${(await parts.nameOf(user)) ?? user}: ${text}`;
      return posting.put(place, await noticeOf(aloud), aloudDelivery(account, text));
    },

    async updateNotice(ref, notice) {
      if (notice === undefined) return posting.remove(place, ref);
      const messages = slackMessages(await renderOutgoing(notice, allowLink));
      for (const [part, ts] of timestampsOf(ref).entries()) {
        const message = messages[part];
        if (message !== undefined && !isPrivate(ts)) await posting.edit(place, ts, message);
      }
    },

    async postCard(card, delivery) {
      const ref = await posting.put(place, slackMessages(renderCard(card)), delivery);
      status(place, "suspended");
      return ref;
    },

    async updateCard(ref, card) {
      const messages = slackMessages(renderCard(card));
      for (const [part, ts] of timestampsOf(ref).entries()) {
        const message = messages[part];
        if (message === undefined || (await posting.edit(place, ts, message))) continue;
        parts.log.warn({ key: card.key, action: card.action }, "a card is gone and stays so");
      }
    },

    async delete(ref) {
      await board.end(ref);
      await posting.remove(place, ref);
    },
  };
}

/** A run that answered works no more; one that asks waits. A notice beside it changes nothing. */
function statusAfter(message: Outgoing): SessionStatus | undefined {
  if (message.kind === "answer") return "active";
  return message.asks === undefined ? undefined : "suspended";
}
