import { type ResponseLike, REST, type RouteLike } from "discord.js";
import { atMost } from "../../core/time-limit.ts";
import { BotError } from "../../core/errors.ts";
import { onceFetch } from "../shared/fetch.ts";
import { platformError } from "./errors.ts";

export const API_URL = "https://discord.com/api";

/** A request that got no answer by then may still take effect: look before you repeat it. */
const TIMEOUT_MS = 10_000;
/** For one request, including its wait for earlier ones in the same channel. */
const WHOLE_MS = 18_000;
/** Waits out a limit of a few seconds: a long answer is several messages, and Discord allows five in 5 s. */
const MAX_WAIT_MS = 6_000;

interface Request {
  body?: unknown;
  /** Sent beside the body. */
  files?: readonly { name: string; data: Buffer; contentType: string }[];
  query?: Readonly<Record<string, string | number>>;
  /** False for what carries a token of its own in its path, as an interaction's answer does. */
  auth?: false;
}

/** Discord's HTTP API, version 10, as the bot. */
export interface Api {
  /**
   * One request. Repeated only if Discord said that it had no effect and asks to wait for at most 6 s.
   * @throws BotError PLATFORM_REFUSED, PLATFORM_RATE_LIMITED, PLATFORM_UNREACHABLE (after 18 s at the latest)
   */
  ask<T>(
    method: "get" | "post" | "put" | "patch" | "delete",
    route: RouteLike,
    request?: Request,
  ): Promise<T>;
  /** Ends what it keeps going by itself; requests on their way are not waited for. */
  stop(): void;
}

/** Never repeats blindly: a request that timed out may have taken effect. */
export const REST_OPTIONS = {
  timeout: TIMEOUT_MS,
  retries: 0,
  // By our own connections, which go through the proxy where there is one.
  makeRequest: async (url: string, init: object): Promise<ResponseLike> => onceFetch(url, init),
} as const;

export function createApi(token: string, apiUrl: string | undefined): Api {
  const rest = new REST({
    ...REST_OPTIONS,
    api: apiUrl ?? API_URL,
    rejectOnRateLimit: ({ retryAfter, timeToReset }) =>
      Math.max(retryAfter, timeToReset) > MAX_WAIT_MS,
  });
  return {
    async ask<T>(...[method, route, { query, files, ...request } = {}]: Parameters<Api["ask"]>) {
      // The library forgets the token after a single 401.
      rest.setToken(token);
      try {
        const answer = await rest[method](route, {
          ...request,
          ...(files !== undefined && { files: [...files] }),
          ...(query !== undefined && { query: toQuery(query) }),
          signal: AbortSignal.timeout(WHOLE_MS),
        });
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the platform's own types say what a route answers
        return answer as T;
      } catch (error) {
        throw platformError(error, `${method.toUpperCase()} ${withoutToken(route)}`);
      }
    },
    stop() {
      rest.clearHashSweeper();
      rest.clearHandlerSweeper();
    },
  };
}

function toQuery(query: NonNullable<Request["query"]>): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) params.set(name, String(value));
  return params;
}

/** An interaction's token answers for the bot. */
function withoutToken(route: string): string {
  return route.replace(/^(\/(?:webhooks|interactions)\/\d+)\/[^/]+/, "$1/…");
}

/**
 * The answer, if it comes within `ms`; what is asked goes on by itself.
 * @throws BotError PLATFORM_UNREACHABLE when Discord does not answer by then, STORE_UNAVAILABLE when the store does not
 */
export function answerWithin<T>(
  ms: number,
  asked: Promise<T>,
  whom: "Discord" | "The store",
): Promise<T> {
  const code = whom === "Discord" ? "PLATFORM_UNREACHABLE" : "STORE_UNAVAILABLE";
  return atMost(ms, asked, () => {
    throw new BotError(code, `${whom} did not answer within ${ms} ms.`);
  });
}
