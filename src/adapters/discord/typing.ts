import { Routes } from "discord.js";
import type { Logger } from "pino";
import { createSign, type ThreadSign } from "../shared/sign.ts";
import type { Api } from "./api.ts";
import { keyOf, type Place } from "./place.ts";

/** "Watchkeeper is typing" stays until the next message, for 10 s at the most. */
const TYPING_MS = 8_000;

export function createTyping(api: Api, log: Logger): ThreadSign<Place> {
  return createSign<Place>({
    keyOf,
    async show({ channel }, status) {
      if (status !== "working") return;
      await api.ask("post", Routes.channelTyping(channel)).catch((error: unknown) => {
        log.debug({ err: error }, "typing could not be shown");
      });
    },
    renewMs: TYPING_MS,
  });
}

/** Puts a 👍 on a message, or not: nothing depends on it. */
export function createThumbsUp(api: Api, log: Logger) {
  return ({ channel }: Place, message: string): void => {
    const route = Routes.channelMessageOwnReaction(channel, message, encodeURIComponent("👍"));
    api.ask("put", route).catch((error: unknown) => {
      log.debug({ err: error }, "a reaction could not be added");
    });
  };
}
