import { type APIMessage, RESTJSONErrorCodes as Code, Routes } from "discord.js";
import type { View } from "../view.ts";
import { rootMessage } from "../render/alerts.ts";
import { type FirstMessage, showRoot } from "../shared/root.ts";
import type { Api } from "./api.ts";
import type { Channels } from "./channels.ts";
import { discordMessages } from "./encode.ts";
import { isCode } from "./errors.ts";
import type { Place } from "./place.ts";
import { isStamped, type Posting, stamped } from "./posting.ts";

interface RootParts {
  api: Api;
  channels: Pick<Channels, "channelOf">;
  /** Ours, as a user. */
  bot: string;
  posting: Pick<Posting, "edit">;
}

/** A thread's `View.showRoot`: the message that it began with stands in the channel above it, under the thread's own id. */
export function createShowRoot(
  place: Place,
  { api, channels, bot, posting }: RootParts,
): NonNullable<View["showRoot"]> {
  const { guild, channel: message } = place;
  return async (root, shown) => {
    const [, , parent = message] =
      guild === undefined ? [] : (await channels.channelOf(place)).split(":");
    // Direct messages, and what is said in a channel itself, begin with no message.
    if (parent === message) return "";
    const above: Place = { guild, channel: parent };
    return showRoot(root, shown, {
      look: () => look(api, above, message, bot),
      async edit(card, delivery) {
        const [said] = discordMessages(rootMessage(card));
        if (said !== undefined) await posting.edit(above, message, stamped(above, said, delivery));
      },
      async react(sign, isOn) {
        const emoji = encodeURIComponent(sign);
        const route = Routes.channelMessageOwnReaction(parent, message, emoji);
        try {
          await api.ask(isOn ? "put" : "delete", route);
        } catch (error) {
          if (isOn || !isCode(error, Code.UnknownEmoji, Code.UnknownMessage)) throw error;
        }
      },
    });
  };
}

async function look(api: Api, above: Place, message: string, bot: string): Promise<FirstMessage> {
  try {
    const route = Routes.channelMessage(above.channel, message);
    const { author, components } = await api.ask<APIMessage>("get", route);
    if (author.id === bot)
      return { kind: "ours", isOf: (delivery) => isStamped(above, components, delivery) };
    return { kind: author.bot === true ? "bot" : "person" };
  } catch (error) {
    if (isCode(error, Code.UnknownMessage)) return { kind: "gone" };
    throw error;
  }
}
