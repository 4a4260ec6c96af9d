import type { Logger } from "pino";
import { BotError } from "../../core/errors.ts";
import type { ChatAdapter } from "../adapter.ts";
import { createApi } from "./api.ts";
import { renderOutgoing } from "../render/message.ts";
import { type Channels, createChannels, isThreadType } from "./channels.ts";
import { discordMessages } from "./encode.ts";
import { createPeople } from "./people.ts";
import { keyOf, linkOf, tryPlace } from "./place.ts";
import { openSession, type Session } from "./session.ts";
import { NOTHING, type Served } from "./tenants.ts";
import { isWithin } from "./say.ts";
import { createView } from "./view.ts";

export interface DiscordOptions {
  /** The bot's. */
  token: string;
  /** Without the version and a slash at its end. Default: Discord's own. */
  apiUrl?: string | undefined;
  /** Ids of the servers that are served. Default: the one that the bot is in at its first start, for ever. */
  guilds?: readonly string[] | undefined;
  /** Ids of bots and webhooks that may begin an investigation. */
  bots?: readonly string[] | undefined;
  log: Logger;
}

/** Discord by its gateway and API version 10, as one bot; it needs no port. Nothing is asked of it before `start`. */
export function createDiscord({ token, apiUrl, guilds, bots, log }: DiscordOptions): ChatAdapter {
  const api = createApi(token, apiUrl);
  const channels = createChannels(api);
  let session: Session | undefined;
  let served = NOTHING;
  let stopped = false;
  const people = createPeople({
    api,
    channels,
    guildOfRole: (role) => session?.connection.guildOfRole(role),
    served: () => served,
  });

  return {
    transport: "discord",
    people,
    singleOperator: false,

    view(key) {
      const place = tryPlace(key);
      if (place === undefined || session === undefined) return undefined;
      if (place.guild !== undefined && !served.has(place.guild)) return undefined;
      const { posting, ephemeralMessages, board, sign, bot, connection } = session;
      const earlier = { api, channels, bot, heard: connection };
      return createView(place, { posting, ephemeralMessages, board, sign, people, earlier, log });
    },

    async audience(key) {
      const place = tryPlace(key);
      return place === undefined ? key : channels.audience(place);
    },

    tenants: async (key, account) =>
      (await people.guildsOf(account, key)).map((guild) => `discord:${guild}`),

    async placeName(key) {
      const place = tryPlace(key);
      return place?.guild === undefined ? undefined : channels.name(place.channel);
    },

    async channel(key) {
      const place = tryPlace(key);
      return place === undefined ? key : channels.channelOf(place);
    },

    link(key) {
      const place = tryPlace(key);
      return place && linkOf(place);
    },

    async start(parts) {
      const opened = await openSession({
        ...parts,
        token,
        apiUrl,
        api,
        channels,
        people,
        guilds,
        bots,
        onServed: (found) => (served = found),
        log,
      });
      session = opened;
      // Told to stop while it was connecting.
      if (stopped) await opened.close();
    },

    async stop() {
      stopped = true;
      await session?.close();
      api.stop();
    },

    async announce(named, notice, delivery) {
      const { posting } = connected(session);
      const place = await channelIn(served, channels, named);
      const rendered = await renderOutgoing(notice, isWithin(place));
      return posting.put(place, discordMessages(rendered), delivery);
    },

    async open(named, text) {
      const place = await channelIn(served, channels, named);
      // What is said and pressed in a thread is about that thread: it never becomes another one's place.
      if (place.isThread) throw refusedPlace(`${named} is a thread. Name a channel.`);
      return keyOf(await connected(session).begin(place, text));
    },

    async examine(kept) {
      const { examine } = await import("./examine.ts");
      return examine(api, { configured: guilds, kept });
    },
  };
}

function connected(session: Session | undefined): Session {
  if (session !== undefined) return session;
  throw new BotError("PLATFORM_UNREACHABLE", "Discord is not connected yet.");
}

/** @throws BotError PLATFORM_REFUSED for a channel that is in no served server, or not in the one that is named */
async function channelIn(
  served: Pick<Served, "has">,
  channels: Channels,
  named: string,
): Promise<{ guild: string; channel: string; isThread: boolean }> {
  const [, guild = "", channel = ""] = named.split(":");
  const found = served.has(guild) ? await channels.channel(channel) : undefined;
  const isThere = found !== undefined && "guild_id" in found && found.guild_id === guild;
  // Rules know it by this id alone, however else Discord reads it.
  if (isThere && found.id === channel)
    return { guild, channel, isThread: isThreadType(found.type) };
  throw refusedPlace(`${named} is in no Discord server that is served.`);
}

function refusedPlace(text: string): BotError {
  return new BotError("PLATFORM_REFUSED", text, { refused: "place" });
}
