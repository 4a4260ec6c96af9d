import { PermissionFlagsBits as Bits } from "discord.js";
import type { Logger } from "pino";
import { BotError } from "../../core/errors.ts";
import { headOf } from "../../core/text.ts";
import type { Queries } from "../queries.ts";
import type { Overview } from "../overview.ts";
import { renderText } from "../render/message.ts";
import { noticeDelivery } from "../shared/notice-ids.ts";
import { DOOR, incidentOfTheirs } from "../shared/incident-door.ts";
import { createOutlook } from "../shared/outlook.ts";
import { linesOf } from "../shared/outlook-lines.ts";
import { ASKED, writtenInto } from "../shared/phrases.ts";
import type { Begin } from "./begin.ts";
import { type Channels, isThreadType, missingAmong } from "./channels.ts";
import { createCommands, type WriteInto } from "./commands.ts";
import { createCompletion } from "./completion.ts";
import { wordsIn } from "./earlier.ts";
import type { InteractionReplies } from "./interaction-replies.ts";
import { createMessageCommands } from "./message-commands.ts";
import type { Messages } from "./messages.ts";
import type { Acted } from "./payloads.ts";
import { actorOf, type DiscordPeople } from "./people.ts";
import * as phrases from "./phrases.ts";
import { accountOf, addressOf, linkOf, type Place, tryPlace } from "./place.ts";
import type { Served } from "./tenants.ts";
import { threadName } from "./text.ts";
import { type OpenThread, openThreadFor } from "./threads.ts";

/** Of what was asked, in the thread's first message. */
const MAX_SHOWN = 1_800;

export interface DoorParts {
  replies: InteractionReplies;
  channels: Channels;
  people: DiscordPeople;
  served: Served;
  queries: Queries;
  overview: Overview;
  begin: Begin;
  openThread: OpenThread;
  record: Messages["record"];
  encode(text: string): string;
  log: Logger;
}

/** The ways to the bot besides messages and what stands in them. */
export function createDoors(parts: DoorParts) {
  const { channels, people, served, openThread, encode } = parts;

  const lines = linesOf({
    link: (key) => {
      const place = tryPlace(key);
      return place && linkOf(place);
    },
    async placeName(key) {
      const place = tryPlace(key);
      return place?.guild === undefined ? undefined : channels.name(place.channel);
    },
  });
  const isOurs = (url: string) =>
    [undefined, ...served.ids].some((guild) => url.startsWith(addressOf(guild)));
  const render = (text: string) => renderText(text, isOurs);

  /** In a server its own threads; in a direct message everything that they may see. */
  async function lookOut(account: string, place: Place) {
    const { guild } = place;
    const outlook = createOutlook({
      ...parts,
      prefixes:
        guild === undefined
          ? [...served.ids.map((id) => `discord:${id}:`), "discord:dm:"]
          : [`discord:${guild}:`],
      async tenants(asking) {
        const homes = await people.homesOf(asking);
        const seen = homes.filter((id) => guild === undefined || id === guild);
        return seen.map((id) => `discord:${id}`);
      },
      // Who can't view a channel is an outsider there, so it is not public to them.
      isPublic: async () => false,
    });
    return outlook(account, await channels.audience(place));
  }

  function say(acted: Acted, place: Place, id: string, text: string): Promise<boolean> {
    const actor = actorOf(acted.user, acted.nick);
    return parts.record(place, id, { kind: "text", actor, text });
  }

  /** The channel's kind: as the event says, else as Discord does. */
  async function kindOf({ channelType, place }: Acted): Promise<number> {
    return channelType ?? (await channels.channel(place.channel)).type;
  }

  async function ask(acted: Acted, text: string, title = text): Promise<string> {
    checkMayWrite(acted);
    const { name } = actorOf(acted.user, acted.nick);
    const { place, message } = await parts.begin(
      { ...acted.place, kind: await kindOf(acted) },
      {
        text: `${name}: ${headOf(encode(text), MAX_SHOWN)}`,
        name: threadName(encode(title), name),
      },
      noticeDelivery("asked", acted.id),
    );
    if (!(await say(acted, place, message, text))) return phrases.ASKED_LATER;
    return place.channel === acted.place.channel ? phrases.ASKED_HERE : ASKED;
  }

  const write: WriteInto = async (acted, { incident, seen }, text) => {
    const account = accountOf(acted.user.id);
    const found = await incidentOfTheirs({ account, incident, seen }, people, tryPlace);
    if (found === undefined) return undefined;
    checkMayWrite(acted);
    if (!(await say(acted, found.place, DOOR + acted.id, text))) return phrases.ASKED_LATER;
    return writtenInto(incident, linkOf(found.place));
  };

  /** `seen`: the message, which the thread is named after. */
  async function threadOf(acted: Acted, message: string, seen: unknown): Promise<Place> {
    checkMayWrite(acted);
    const { guild, channel } = acted.place;
    const kind = await kindOf(acted);
    if (guild === undefined || isThreadType(kind)) return acted.place;
    const name = threadName(encode(wordsIn(seen)), actorOf(acted.user, acted.nick).name);
    return openThreadFor(openThread, { guild, channel, message, kind, name });
  }

  const shared = { ...parts, lookOut, lines, ask, write, threadOf, render };
  return {
    commands: createCommands(shared),
    completion: createCompletion(shared),
    messageCommands: createMessageCommands({ ...shared, say }),
  };
}

/** As for a mention: they may write there, and so may the bot. @throws BotError */
function checkMayWrite({ place, channelType, may, app_permissions: own }: Acted): void {
  if (place.guild === undefined) return;
  const isThread = channelType !== undefined && isThreadType(channelType);
  const needed = isThread ? Bits.SendMessagesInThreads : Bits.SendMessages;
  const refuse = (why: string) => new BotError("PLATFORM_REFUSED", why);
  if (may !== undefined && (may & needed) === 0n) throw refuse(phrases.CANT_WRITE);
  const missing = own === undefined || isThread ? [] : missingAmong(own);
  if (missing.length > 0) throw refuse(phrases.lacksPermissions(missing));
}

export type Doors = ReturnType<typeof createDoors>;
