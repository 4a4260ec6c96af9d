import { LRUCache } from "lru-cache";
import { type APIChannel, ChannelType, RESTJSONErrorCodes as Code, Routes } from "discord.js";
import type { Logger } from "pino";
import { BotError, isBotError, messageOf } from "../../core/errors.ts";
import type { Api } from "./api.ts";
import { type Channels, missingAmong } from "./channels.ts";
import { isCode } from "./errors.ts";
import { cannotOpenThread, lacksPermissions, NO_THREADS_HERE } from "./phrases.ts";
import type { Place } from "./place.ts";
import { noticeDelivery } from "../shared/notice-ids.ts";
import type { Pace } from "../shared/pace.ts";
import type { Say } from "./say.ts";

/** A channel is told only once in this time that threads cannot be opened in it. */
const TOLD_MS = 600_000;
const MAX_CHANNELS = 1_000;

/** Kinds of channel in which a message can begin a thread. */
const HAVE_THREADS: ReadonlySet<number> = new Set([
  ChannelType.GuildText,
  ChannelType.GuildAnnouncement,
]);

/** The message that a thread will begin with. */
interface Root {
  guild: string;
  channel: string;
  message: string;
  /** The channel's. */
  kind: number;
  /** 1 to 100 characters. */
  name: string;
}

export interface ThreadOpenerParts {
  api: Api;
  pace: Pace;
  bot: string;
  channels: Channels;
  say: Say;
  log: Logger;
}

/**
 * Opens the thread of a message, which has the message's id; the same again, also by another process, is one thread.
 * Undefined when none can be opened: then the channel, or who gave `tell`, has been told why.
 * @throws BotError PLATFORM_UNREACHABLE, PLATFORM_RATE_LIMITED
 */
export type OpenThread = (root: Root, tell?: (why: string) => void) => Promise<Place | undefined>;

/** The same for somebody who waits for it. @throws BotError PLATFORM_REFUSED with why there is none, as `openThread` */
export async function openThreadFor(openThread: OpenThread, root: Root): Promise<Place> {
  let why = "";
  const place = await openThread(root, (text) => {
    why = text;
  });
  if (place !== undefined) return place;
  throw new BotError("PLATFORM_REFUSED", why);
}

export function createThreadOpener({
  api,
  pace,
  bot,
  channels,
  say,
  log,
}: ThreadOpenerParts): OpenThread {
  const toldAt = new LRUCache<string, number>({ max: MAX_CHANNELS });

  async function whyNot({ guild, channel }: Root, error: unknown): Promise<string> {
    if (!isCode(error, Code.MissingAccess, Code.MissingPermissions)) return messageOf(error);
    let missing: string[] = [];
    try {
      const member = await api.ask<{ roles: string[] }>("get", Routes.guildMember(guild, bot));
      const viewer = { user: bot, roles: member.roles };
      missing = missingAmong(await channels.permissions(guild, channel, viewer));
    } catch (cause) {
      log.debug({ err: cause }, "what is missing could not be found out");
    }
    return lacksPermissions(missing.length > 0 ? missing : missingAmong(0n));
  }

  async function reasonFor(root: Root, error: unknown): Promise<string> {
    if (!HAVE_THREADS.has(root.kind)) return NO_THREADS_HERE;
    return cannotOpenThread(await whyNot(root, error));
  }

  async function tellChannel(root: Root, error: unknown): Promise<void> {
    const { guild, channel, message } = root;
    const last = toldAt.get(channel);
    if (last !== undefined && performance.now() - last < TOLD_MS) return;
    toldAt.set(channel, performance.now());
    // Every process hears the message; it is answered once.
    const why = await reasonFor(root, error);
    await say({ guild, channel }, why, noticeDelivery("nothread", message));
  }

  return async (root, tell) => {
    const { guild, channel, message, kind, name } = root;
    const place = { guild, channel: message };
    try {
      await pace.ask({ name: `thread ${channel}` }, () =>
        api.ask<APIChannel>("post", Routes.threads(channel, message), { body: { name } }),
      );
      return place;
    } catch (error) {
      // Another process was faster, or an earlier attempt of ours came through.
      if (isCode(error, Code.ThreadAlreadyCreatedForMessage)) return place;
      if (!isBotError(error, "PLATFORM_REFUSED")) throw error;
      log.warn({ err: error, channel, kind }, "no thread could be opened");
      if (tell !== undefined) tell(await reasonFor(root, error));
      // A message that was deleted meanwhile needs no answer.
      else if (!isCode(error, Code.UnknownMessage)) await tellChannel(root, error);
      return undefined;
    }
  };
}
