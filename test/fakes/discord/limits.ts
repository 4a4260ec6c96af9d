import { Refusal } from "./refusals.ts";

const MESSAGES_A_WINDOW = 5;
const REQUESTS_A_SECOND = 50;
const BAN_WINDOW_MS = 600_000;

interface Bucket {
  used: number;
  resetAt: number;
}

/** Counts requests as Discord does, and refuses what is too much where `on`. */
export interface Limits {
  /** Of 401, 403 and 429 that are not shared, in the last ten minutes. */
  readonly invalid: number;
  /** An address with so many invalid requests in ten minutes gets nothing but a page of the proxy's. */
  readonly banned: boolean;
  /** The `X-RateLimit-*` headers of a request. @throws Refusal 429 with the same headers */
  take(request: {
    method: string;
    pattern: string;
    major: string;
    isInteraction: boolean;
  }): Record<string, string>;
  note(status: number, scope: string | undefined): void;
}

/** Seconds as the header has them: whole ones, from one second on. */
const inSeconds = (ms: number): string => String(ms < 1_000 ? ms / 1_000 : Math.ceil(ms / 1_000));

export function createLimits(
  on: boolean,
  windowMs: number,
  bannedFrom: number,
  clock: () => number,
): Limits {
  const buckets = new Map<string, Bucket>();
  let invalid: number[] = [];
  const draw = (key: string, lengthMs: number, now: number): Bucket => {
    const bucket = buckets.get(key);
    if (bucket !== undefined && bucket.resetAt > now) return bucket;
    const fresh = { used: 0, resetAt: now + lengthMs };
    buckets.set(key, fresh);
    return fresh;
  };
  const recent = (): number[] => {
    const since = clock() - BAN_WINDOW_MS;
    if ((invalid[0] ?? Infinity) < since) invalid = invalid.filter((at) => at >= since);
    return invalid;
  };
  const refuse = (waitMs: number, isGlobal: boolean, headers: Record<string, string>): Refusal =>
    new Refusal(429, 0, "You are being rate limited.", {
      body: { retry_after: waitMs / 1_000, global: isGlobal },
      headers: {
        ...headers,
        ...(isGlobal ? { "X-RateLimit-Global": "true" } : {}),
        "X-RateLimit-Scope": isGlobal ? "global" : "user",
        "Retry-After": inSeconds(waitMs),
      },
    });
  return {
    get invalid() {
      return recent().length;
    },
    get banned() {
      return recent().length >= bannedFrom;
    },
    take({ method, pattern, major, isInteraction }) {
      const now = clock();
      const tight =
        on &&
        pattern.startsWith("/channels/:channel/messages") &&
        method !== "GET" &&
        method !== "DELETE";
      const limit = tight ? MESSAGES_A_WINDOW : on ? REQUESTS_A_SECOND : 10_000;
      const name = Buffer.from(`${method} ${pattern}`).toString("hex").slice(-32);
      const bucket = draw(`${method} ${pattern} ${major}`, tight ? windowMs : 1_000, now);
      const waitMs = bucket.resetAt - now;
      const tooMany = on && bucket.used >= limit;
      if (!tooMany) bucket.used += 1;
      const headers = {
        "X-RateLimit-Limit": String(limit),
        "X-RateLimit-Remaining": String(Math.max(0, limit - bucket.used)),
        "X-RateLimit-Reset": String(bucket.resetAt / 1_000),
        "X-RateLimit-Reset-After": String(waitMs / 1_000),
        "X-RateLimit-Bucket": name,
      };
      if (tooMany) throw refuse(waitMs, false, headers);
      if (!on || isInteraction) return headers;
      const whole = draw("global", 1_000, now);
      whole.used += 1;
      if (whole.used > REQUESTS_A_SECOND) throw refuse(whole.resetAt - now, true, headers);
      return headers;
    },
    note(status, scope) {
      if ((status === 401 || status === 403 || status === 429) && scope !== "shared") {
        invalid.push(clock());
      }
    },
  };
}
