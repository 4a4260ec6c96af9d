import type { Logger } from "pino";
import type { Outgoing, View } from "../adapter.ts";
import { createProgressLog, tellCard, tellOutgoing } from "../told.ts";
import { slackMessages } from "./blocks.ts";
import { type Place, tryAccount } from "./place.ts";
import { type Posting, timestampsOf } from "./posting.ts";
import type { ProgressBoard } from "./progress.ts";
import type { SessionStatus } from "./status.ts";

export interface ViewParts {
  posting: Posting;
  board: ProgressBoard;
  status(place: Place, status: SessionStatus): void;
  allowLink(url: string): boolean;
  log: Logger;
}

/** One thread, as everyone in it sees it. Throws what the Web API answers; the outbox repeats it. */
export function createView(place: Place, parts: ViewParts): View {
  const { posting, board, status, allowLink } = parts;

  return {
    async begin(delivery, soFar) {
      const log = createProgressLog(allowLink);
      for (const update of soFar) log.note(update);
      const messages = slackMessages(await log.told());
      // Progress is one message, whatever it holds.
      const ref = await posting.put(place, messages.slice(0, 1), delivery);
      board.begin(place, ref, log);
      status(place, "processing");
      return ref;
    },

    progress(update, begun) {
      if (begun !== undefined) board.note(place, begun, update);
    },

    async say(message, delivery, begun) {
      if (begun !== undefined) await board.end(begun);
      const messages = slackMessages(await tellOutgoing(message, allowLink));
      const ref = await posting.put(place, messages, delivery, begun);
      const after = statusAfter(message);
      if (after !== undefined) status(place, after);
      return ref;
    },

    async whisper(account, text) {
      const notice: Outgoing = {
        kind: "notice",
        text,
        settles: undefined,
        asks: undefined,
        holds: [],
      };
      const messages = slackMessages(await tellOutgoing(notice, allowLink));
      const user = tryAccount(account)?.user ?? account;
      return posting.whisper(place, user, messages);
    },

    async card(card, delivery) {
      const ref = await posting.put(place, slackMessages(tellCard(card)), delivery);
      status(place, "suspended");
      return ref;
    },

    async settle(ref, card) {
      const messages = slackMessages(tellCard(card));
      for (const [part, ts] of timestampsOf(ref).entries()) {
        const message = messages[part];
        if (message === undefined || (await posting.edit(place, ts, message))) continue;
        parts.log.warn({ key: card.key, action: card.action }, "a card is gone and stays so");
      }
    },

    async retract(ref) {
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
