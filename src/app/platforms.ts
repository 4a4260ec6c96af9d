import { ExponentialBackoff, handleWhen, retry } from "cockatiel";
import type { Logger } from "pino";
import type { ChatAdapter, ChatParts } from "../adapters/adapter.ts";
import type { Config } from "../config/config.ts";
import { isBotError } from "../core/errors.ts";

/** The chat platforms that are configured, none of them connected yet. Only their programs are loaded. */
export async function loadPlatforms(
  { slack, discord }: Config,
  log: Logger,
): Promise<ChatAdapter[]> {
  const platforms: ChatAdapter[] = [];
  if (slack !== undefined) {
    const { createSlack } = await import("../adapters/slack/adapter.ts");
    platforms.push(createSlack({ ...slack, log: log.child({ platform: "slack" }) }));
  }
  if (discord !== undefined) {
    const { createDiscord } = await import("../adapters/discord/adapter.ts");
    platforms.push(createDiscord({ ...discord, log: log.child({ platform: "discord" }) }));
  }
  return platforms;
}

/**
 * Connects each platform, one that is away again and again: one platform's outage is none of the others'. Resolves when
 * each has connected or refused for good, with those that have connected.
 */
export async function connectPlatforms(
  platforms: readonly ChatAdapter[],
  parts: ChatParts,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<ChatAdapter[]> {
  const isAway = (error: unknown) =>
    isBotError(error, "PLATFORM_UNREACHABLE", "PLATFORM_RATE_LIMITED");
  const patient = retry(handleWhen(isAway), {
    maxAttempts: Number.MAX_SAFE_INTEGER,
    backoff: new ExponentialBackoff({ initialDelay: 1_000, maxDelay: 30_000 }),
  });
  const connected = await Promise.all(
    platforms.map(async (platform) => {
      const { transport } = platform;
      try {
        await patient.execute(async () => {
          try {
            await platform.start(parts);
          } catch (error) {
            if (isAway(error))
              log.warn({ err: error, transport }, "not connected yet; trying again");
            throw error;
          }
        }, signal);
        log.info({ transport }, "connected");
        return [platform];
      } catch (error) {
        if (!signal.aborted) log.error({ err: error, transport }, "not connected");
        return [];
      }
    }),
  );
  return connected.flat();
}
