import { MessageFlags } from "discord.js";
import type { Logger } from "pino";
import { isBotError } from "../../core/errors.ts";
import type { View } from "../view.ts";
import { type RenderedMessage, textOf } from "../render/rich-text.ts";
import type { ProgressBoard } from "../shared/progress-board.ts";
import type { ThreadSign } from "../shared/sign.ts";
import { createChatView } from "../shared/view.ts";
import { discordCard } from "./card.ts";
import { discordFile, discordImages, discordMessages } from "./encode.ts";
import { createEarlier, createForwarded, type EarlierParts } from "./earlier.ts";
import type { EphemeralMessages } from "./ephemeral.ts";
import type { DiscordPeople } from "./people.ts";
import { isPrivate, partsOf } from "../shared/posting.ts";
import { accountOf, linkOf, type Place, tryUser } from "./place.ts";
import type { Posting } from "./posting.ts";
import { createShowRoot } from "./root.ts";
import { isWithin } from "./say.ts";

export interface ViewParts {
  posting: Posting;
  ephemeralMessages: EphemeralMessages;
  board: ProgressBoard<Place>;
  sign: ThreadSign<Place>;
  people: DiscordPeople;
  earlier: EarlierParts;
  log: Logger;
}

/** One thread, as everyone in it sees it. Throws what `Api.ask` throws; the outbox repeats it. */
export function createView(place: Place, parts: ViewParts): View {
  const { posting, ephemeralMessages, board, sign, people, log } = parts;
  return createChatView(place, {
    posting,
    board,
    allowLink: isWithin(place),
    showRoot: createShowRoot(place, { ...parts.earlier, posting }),
    linkTo: (ref) => (isPrivate(ref) ? undefined : linkOf(place, partsOf(ref)[0])),
    encode: discordMessages,
    encodeCard: discordCard,
    sendFile: (at, file, delivery) => posting.put(at, [discordFile(file)], delivery),
    imageMessages: async (images) => [discordImages(images)],

    async postPrivately(account, rendered) {
      const user = tryUser(account);
      if (user === undefined) return undefined;
      const messages = {
        here: discordMessages(rendered),
        elsewhere: discordMessages(withOrigin(rendered, place)),
      };
      try {
        return await ephemeralMessages.post(place, user, messages);
      } catch (error) {
        if (!isBotError(error, "PLATFORM_REFUSED")) throw error;
        log.debug({ err: error }, "a person could not be told alone");
        return undefined;
      }
    },

    async nameOf(account) {
      const user = tryUser(account);
      if (user === undefined) return account;
      return people.nameOf(user, place).catch(() => accountOf(user));
    },

    earlier: (place.guild === undefined ? createForwarded : createEarlier)(place, parts.earlier),

    quietly: (message) => ({
      ...message,
      flags: message.flags | MessageFlags.SuppressNotifications,
    }),
    sign,
    log,
  });
}

/** A direct message says which thread it is about, once. */
function withOrigin(rendered: RenderedMessage, place: Place): RenderedMessage {
  const url = linkOf(place);
  const [said] = rendered.blocks;
  if (said !== undefined && textOf(said).includes(url)) return rendered;
  return {
    ...rendered,
    blocks: [...rendered.blocks, { kind: "small", inlines: [{ text: url, url }] }],
  };
}
