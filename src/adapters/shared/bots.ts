import { LRUCache } from "lru-cache";
import type { Logger } from "pino";

/** How many investigations one bot may begin in an hour: a storm of alerts is one incident. */
const MAX_AN_HOUR = 20;
const HOUR_MS = 3_600_000;
const MAX_KNOWN = 10_000;

/** Other bots, as far as this process has heard of them: which may begin an investigation, and which were refused already. */
export function createBots(listed: readonly string[] = [], log: Logger) {
  const begun = new LRUCache<string, LRUCache<string, true>>({ max: MAX_KNOWN });
  const refused = new LRUCache<string, true>({ max: MAX_KNOWN, ttl: HOUR_MS });

  return {
    /** One of the ids that a message's author goes by is in the configuration. */
    isListed: (ids: readonly (string | undefined)[]) =>
      ids.some((id) => id !== undefined && listed.includes(id)),
    /** False for old news, and once the bot has begun too many; the same message again counts once. */
    mayBegin(bot: string, { message, at }: { message: string; at: number }): boolean {
      if (Date.now() - at > HOUR_MS) return false;
      const messages =
        begun.get(bot) ?? new LRUCache<string, true>({ max: MAX_AN_HOUR + 1, ttl: HOUR_MS });
      begun.set(bot, messages);
      messages.purgeStale();
      if (messages.has(message)) return true;
      if (messages.size >= MAX_AN_HOUR) {
        log.warn({ bot, message }, "a bot has begun 20 investigations in an hour; this is left");
        return false;
      }
      messages.set(message, true);
      return true;
    },
    /** True once for each thread, and once an hour for each channel: a bot that mentions on and on is not answered each time. */
    mayRefuse(bot: string, { channel, thread }: { channel: string; thread?: string }): boolean {
      const keys = [channel, ...(thread === undefined ? [] : [thread])].map((at) => `${bot} ${at}`);
      const isNew = keys.every((key) => !refused.has(key));
      for (const key of keys) refused.set(key, true);
      return isNew;
    },
  };
}

export type Bots = ReturnType<typeof createBots>;
