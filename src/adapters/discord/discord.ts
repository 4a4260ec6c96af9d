import type { Logger } from "pino";
import type { ChatAdapter } from "../adapter.ts";
import { createApi } from "./api.ts";
import { createChannels } from "./channels.ts";
import { createPeople } from "./people.ts";
import { addressOf, tryPlace } from "./place.ts";
import { openSession, type Session } from "./session.ts";
import { createView } from "./view.ts";

export interface DiscordOptions {
  /** The bot's. */
  token: string;
  /** Without the version and a slash at its end. Default: Discord's own. */
  apiUrl?: string | undefined;
  log: Logger;
}

/** Discord by its gateway and API version 10, as one bot; it needs no port. Nothing is asked of it before `start`. */
export function createDiscord({ token, apiUrl, log }: DiscordOptions): ChatAdapter {
  const api = createApi(token, apiUrl);
  const channels = createChannels(api);
  let session: Session | undefined;
  let stopped = false;
  const people = createPeople({
    api,
    channels,
    guildOfRole: (role) => session?.connection.guildOfRole(role),
  });

  return {
    transport: "discord",
    people,
    singleOperator: false,

    view(key) {
      const place = tryPlace(key);
      if (place === undefined || session === undefined) return undefined;
      const { posting, whispers, board } = session;
      return createView(place, { api, posting, whispers, board, people, log });
    },

    async audience(key) {
      const place = tryPlace(key);
      return place === undefined ? key : channels.audience(place);
    },

    link(key) {
      const place = tryPlace(key);
      return place && `${addressOf(place.guild)}${place.channel}`;
    },

    async start(parts) {
      const opened = await openSession({ ...parts, token, apiUrl, api, channels, log });
      session = opened;
      // Told to stop while it was connecting.
      if (stopped) await opened.close();
    },

    async stop() {
      stopped = true;
      await session?.close();
      api.stop();
    },

    async examine() {
      const { examine } = await import("./examine.ts");
      return examine(api);
    },
  };
}
