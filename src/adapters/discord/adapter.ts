import { BotError } from "../../core/errors.ts";
import type { People } from "../../core/people.ts";
import type { ChatAdapter, OpenChannel } from "../adapter.ts";
import { type Api, createApi } from "./api.ts";
import { renderOutgoing } from "../render/message.ts";
import { type Channels, createChannels, isThreadType } from "./channels.ts";
import { discordMessages } from "./encode.ts";
import { createPeople } from "./people.ts";
import { keyOf, linkOf, locate, type Place, tryPlace } from "./place.ts";
import { type DiscordOptions, openSession, type Session } from "./session.ts";
import { NOTHING, type Served } from "./tenants.ts";
import { isWithin } from "./say.ts";
import { createView } from "./view.ts";

/** Discord by its gateway and API version 10, as one bot; it needs no port. Nothing is asked of it before `start`. */
export function createDiscord(options: DiscordOptions): ChatAdapter {
  const { token, apiUrl, log } = options;
  const api = createApi(token, apiUrl);
  const channels = createChannels(api);
  let session: Session | undefined;
  let served = NOTHING;
  let stopped = false;
  const people = createPeople({ api, channels, served: () => served });

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

    about() {
      const line = session?.connection.about();
      return line === undefined ? [] : [`Discord: ${line}`];
    },

    locate,

    async start(parts) {
      const opened = await openSession({
        ...parts,
        ...options,
        api,
        channels,
        people,
        onServed: (found) => (served = found),
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

    isUp: () => session?.connection.isUp() === true,

    async announce(named, notice, delivery) {
      const { posting } = connected(session);
      const place = await channelIn(served, channels, named);
      const rendered = await renderOutgoing(notice, isWithin(place));
      return posting.put(place, discordMessages(rendered), delivery);
    },

    channelAt: async (name) => about(await openChannelIn(served, channels, name), channels, people),

    async open(named, text, delivery) {
      const place = await openChannelIn(served, channels, named);
      return keyOf(await connected(session).begin(place, text, delivery));
    },

    beneath: async (...message) => connected(session).beneath(...message),

    ...examining(api, channels, options),
  };
}

/** What `doctor` asks. */
function examining(
  api: Api,
  channels: Channels,
  { guilds, shards }: DiscordOptions,
): Pick<ChatAdapter, "examine" | "examineChannel"> {
  return {
    async examine(kept) {
      const { examine } = await import("./examine.ts");
      return examine(api, { configured: guilds, kept, shards });
    },
    examineChannel: async (named) =>
      (await import("./examine.ts")).examineChannel(api, channels, named),
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

/** @throws BotError PLATFORM_REFUSED as `channelIn`, and for a thread: what is said and pressed there is about that thread alone */
async function openChannelIn(...[served, channels, named]: Parameters<typeof channelIn>) {
  const place = await channelIn(served, channels, named);
  if (place.isThread) throw refusedPlace(`${named} is a thread. Name a channel.`);
  return place;
}

async function about(place: Place, channels: Channels, people: People): Promise<OpenChannel> {
  return {
    name: await channels.name(place.channel),
    isPublic: (await channels.audience(place)) === undefined,
    has: async (account) => (await people.membership(account, keyOf(place))) === "member",
  };
}

function refusedPlace(text: string): BotError {
  return new BotError("PLATFORM_REFUSED", text, { refused: "place" });
}
