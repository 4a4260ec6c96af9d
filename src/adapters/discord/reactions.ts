import { type APIUser, Routes } from "discord.js";
import { isBotError } from "../../core/errors.ts";
import { createPins, type PinParts } from "../shared/pins.ts";
import type { Queries } from "../queries.ts";
import type { Api } from "./api.ts";
import { beginningsIn, conversationAt } from "./conversations.ts";
import { type Reaction, readReaction } from "./payloads.ts";
import { actorOf, type DiscordPeople } from "./people.ts";
import { accountOf, keyOf } from "./place.ts";
import type { Served } from "./tenants.ts";

const PIN = "📌";

export interface ReactionParts extends PinParts {
  bot: string;
  api: Api;
  queries: PinParts["queries"] & Pick<Queries, "beginnings">;
  people: Pick<DiscordPeople, "membership" | "nameOf">;
  served: Served;
  lanes: { add(lane: string, job: () => Promise<void>): boolean };
}

/** Takes 📌 that people put on messages, or take away; any other reaction is nothing. */
export function createReactions(parts: ReactionParts) {
  const { bot, api, queries, people, served, lanes } = parts;
  const pins = createPins(parts);

  /** The thread that the message stands in, or that it began, and the incident that is open there. */
  async function find({ guild_id: guild, channel_id, message_id }: Reaction) {
    for (const channel of [channel_id, message_id]) {
      const at = { guild, channel };
      const began = await beginningsIn(at, queries);
      const place = conversationAt(at, `msg:${message_id}`, began);
      const incident = await pins.openIn(keyOf(place));
      if (incident !== undefined) return { place, incident };
    }
    return undefined;
  }

  /** Undefined: the message is gone, or the bot may not look. */
  async function isOn({ channel_id, message_id, user_id: user }: Reaction) {
    const route = Routes.channelMessageReaction(channel_id, message_id, encodeURIComponent(PIN));
    const query = { limit: 1, after: String(BigInt(user) - 1n) };
    try {
      const users = await api.ask<APIUser[]>("get", route, { query });
      return users.some(({ id }) => id === user);
    } catch (error) {
      if (isBotError(error, "PLATFORM_REFUSED")) return undefined;
      throw error;
    }
  }

  async function take(reaction: Reaction): Promise<void> {
    const { user_id: user, message_id: message, member } = reaction;
    const found = await find(reaction);
    const isThere = found && (await isOn(reaction));
    if (found === undefined || isThere === undefined) return;
    const { place, incident } = found;
    await pins.take(keyOf(place), incident, { message, user, isOn: isThere }, async () =>
      member?.user === undefined
        ? { account: accountOf(user), name: await people.nameOf(user, place) }
        : actorOf(member.user, member.nick),
    );
  }

  return {
    /** Takes the event of a reaction that was added, or taken away. */
    react(event: unknown): void {
      const reaction = readReaction(event);
      if (reaction === undefined || reaction.emoji.name !== PIN || reaction.user_id === bot) return;
      const { guild_id: guild, channel_id } = reaction;
      if (guild !== undefined && !served.has(guild)) return;
      lanes.add(channel_id, () => take(reaction));
    },
  };
}
