import { webApi } from "@slack/bolt";
import type { Logger } from "pino";
import { atMost } from "../../core/time-limit.ts";
import { BotError } from "../../core/errors.ts";
import { platformError } from "./errors.ts";
import { platformFetch } from "../shared/fetch.ts";
import type { Pace } from "../shared/pace.ts";
import { createSdkLogger } from "./sdk-log.ts";

/** A request that got no answer by then may still take effect: look before you repeat it. */
const TIMEOUT_MS = 10_000;

/** Slack's Web API with one token. */
export interface Api {
  /**
   * One request, never repeated by itself.
   * @throws BotError PLATFORM_REFUSED, PLATFORM_RATE_LIMITED, PLATFORM_UNREACHABLE (after 10 s at the latest)
   */
  ask<T>(method: string, request: (client: webApi.WebClient) => Promise<T>): Promise<T>;
}

export interface ApiOptions {
  /** The one of now, where it changes; undefined: none is sent. */
  token: string | (() => Promise<string>) | undefined;
  /** The variable that the token comes from, or `INSTALLATION`, for errors. */
  variable: string;
  /** Default 10 s. */
  timeoutMs?: number;
  apiUrl: string | undefined;
  log: Logger;
}

/** For clients that the library makes itself, the same. */
export function clientOptions(apiUrl: string | undefined, log: Logger): webApi.WebClientOptions {
  return {
    ...(apiUrl !== undefined && { slackApiUrl: apiUrl }),
    logger: createSdkLogger(log),
    fetch: platformFetch,
    timeout: TIMEOUT_MS,
    retryConfig: { retries: 0 },
    // Otherwise a 429 would stop every other request too.
    rejectRateLimitedCalls: true,
  };
}

export function createApi({
  token,
  variable,
  apiUrl,
  log,
  timeoutMs = TIMEOUT_MS,
}: ApiOptions): Api {
  const options = { ...clientOptions(apiUrl, log), timeout: timeoutMs };
  let current = typeof token === "function" ? undefined : new webApi.WebClient(token, options);
  async function client(): Promise<webApi.WebClient> {
    if (typeof token === "function") {
      const now = await token();
      if (current?.token !== now) current = new webApi.WebClient(now, options);
    }
    return (current ??= new webApi.WebClient(undefined, options));
  }
  return {
    async ask(method, request) {
      try {
        return await request(await client());
      } catch (error) {
        throw platformError(error, method, variable);
      }
    },
  };
}

/**
 * The answer, if it comes within `ms`; what is asked goes on by itself.
 * @throws BotError PLATFORM_UNREACHABLE when it does not
 */
export function answerWithin<T>(ms: number, answer: Promise<T>): Promise<T> {
  return atMost(ms, answer, () => {
    throw new BotError("PLATFORM_UNREACHABLE", `Slack did not answer within ${ms} ms.`);
  });
}

/** The same, asked as the pace lets it: each method is a lane. */
export function pacedApi(api: Api, pace: Pace): Api {
  return {
    ask: (method, request) => pace.ask({ name: method }, () => api.ask(method, request)),
  };
}
