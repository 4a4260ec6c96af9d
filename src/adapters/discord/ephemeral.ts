import { LRUCache } from "lru-cache";
import { MessageFlags, Routes } from "discord.js";
import { isBotError } from "../../core/errors.ts";
import { memoize } from "../../core/memoize.ts";
import type { MessageRef } from "../view.ts";
import type { Pace } from "../shared/pace.ts";
import type { Api } from "./api.ts";
import type { DiscordMessage } from "./encode.ts";
import { keyOf, type Place } from "./place.ts";
import { EPHEMERAL } from "../shared/posting.ts";
import { bodyOf } from "./posting.ts";

/** An interaction's token lives 15 min; a message sent with it must arrive before that. */
const TOKEN_MS = 14 * 60_000;
const MAX_KEPT = 1_000;
const DAY_MS = 86_400_000;

/** Once a click is answered, its token lets more be said to that person alone. */
interface ClickToken {
  application: string;
  token: string;
  /** Resolves when the interaction was answered, or could not be. */
  answered: Promise<void>;
}

/** Messages that only one person may see, worded for the thread and for a direct message. */
interface Whispered {
  here: readonly DiscordMessage[];
  elsewhere: readonly DiscordMessage[];
}

export function ephemeral(message: DiscordMessage, at: Pick<Place, "since">) {
  return { ...bodyOf(message, at), flags: message.flags | MessageFlags.Ephemeral };
}

export function createEphemeralMessages(api: Api, pace: Pace) {
  const clicks = new LRUCache<string, ClickToken>({ max: MAX_KEPT, ttl: TOKEN_MS });
  const dmWith = memoize(
    (user) =>
      api.ask<{ id: string }>("post", Routes.userChannels(), { body: { recipient_id: user } }),
    { ttlMs: DAY_MS, max: MAX_KEPT },
  );

  async function underClick(click: ClickToken, place: Place, messages: readonly DiscordMessage[]) {
    const route = Routes.webhook(click.application, click.token);
    const refs: string[] = [];
    for (const message of messages) {
      const body = ephemeral(message, place);
      const { id } = await api.ask<{ id: string }>("post", route, { body, auth: false });
      refs.push(`${EPHEMERAL}/${id}`);
    }
    return refs.join(",");
  }

  async function directly(user: string, place: Place, messages: readonly DiscordMessage[]) {
    const { id: channel } = await dmWith(user);
    const refs: string[] = [];
    for (const message of messages) {
      const route = Routes.channelMessages(channel);
      const { id } = await pace.ask({ name: `post ${channel}` }, () =>
        api.ask<{ id: string }>("post", route, { body: bodyOf(message, place) }),
      );
      refs.push(`${channel}/${id}`);
    }
    return refs.join(",");
  }

  return {
    clicked(place: Place, user: string, click: ClickToken): void {
      clicks.set(`${keyOf(place)} ${user}`, click);
    },

    /**
     * Under what they clicked less than 14 min ago, else as a direct message.
     * @throws BotError what `Api.ask` throws, PLATFORM_REFUSED also when the person takes no direct messages
     */
    async post(place: Place, user: string, { here, elsewhere }: Whispered): Promise<MessageRef> {
      const click = clicks.get(`${keyOf(place)} ${user}`);
      if (click !== undefined) {
        // A click may have its result before its first answer has arrived.
        await click.answered;
        try {
          return await underClick(click, place, here);
        } catch (error) {
          // A refusal means that the token has expired. Being unreachable is another matter.
          if (!isBotError(error, "PLATFORM_REFUSED")) throw error;
        }
      }
      return directly(user, place, elsewhere);
    },
  };
}

export type EphemeralMessages = ReturnType<typeof createEphemeralMessages>;
