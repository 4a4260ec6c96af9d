import { ExponentialBackoff, handleWhen, retry } from "cockatiel";
import type { Logger } from "pino";
import type { ChatAdapter, ChatParts } from "../adapters/adapter.ts";
import { PLATFORMS } from "../adapters/platforms.ts";
import type { Config } from "../config/config.ts";
import { isBotError } from "../core/errors.ts";
import { settingsOf } from "../core/settings.ts";

/** The kinds of journals that are threads, by the first part of their keys. */
export const TRANSPORTS: readonly string[] = ["terminal", ...PLATFORMS.map(({ name }) => name)];

/** The chat platforms that are turned on, none of them connected yet. Only their programs are loaded. */
export async function loadPlatforms(
  { platforms, values }: Config,
  log: Logger,
): Promise<ChatAdapter[]> {
  const served = PLATFORMS.filter(({ name }) => platforms.includes(name));
  return Promise.all(
    served.map(async (platform) =>
      platform.create(settingsOf(platform, values), log.child({ platform: platform.name })),
    ),
  );
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
              log.warn({ err: error, transport }, "not connected yet, trying again");
            throw error;
          }
        }, signal);
        return [platform];
      } catch (error) {
        if (!signal.aborted) log.error({ err: error, transport }, "not connected");
        return [];
      }
    }),
  );
  return connected.flat();
}
