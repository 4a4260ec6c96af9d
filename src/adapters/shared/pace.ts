import {
  circuitBreaker,
  ConsecutiveBreaker,
  ExponentialBackoff,
  handleAll,
  isBrokenCircuitError,
} from "cockatiel";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { type Backoff, createBackoff } from "../../core/backoff.ts";
import { BotError, isBotError } from "../../core/errors.ts";

/** What is asked, and of which channel: each such pair has a limit of its own. */
interface Lane {
  /** Such as `chat.postMessage C1`. */
  name: string;
  /** A card, or an outcome that nobody knows: it goes before the rest. */
  isUrgent?: boolean | undefined;
}

/** When a platform may be asked. */
export interface Pace {
  /**
   * Asks at once, unless the lane was limited of late or the platform does not answer. A limited lane is not asked before its
   * time, and then once per second until it has not been limited for a minute.
   * @throws BotError PLATFORM_RATE_LIMITED, PLATFORM_UNREACHABLE without asking; what `request` throws
   */
  ask<T>(lane: Lane, request: () => Promise<T>): Promise<T>;
}

export interface PaceParts {
  /** Its name, for people. */
  platform: string;
  /** True for an error that means that the platform, and not this one request, gets no answer. */
  isSilence(error: unknown): boolean;
  log: Logger;
}

/** Slack takes one message per second in a channel (docs.slack.dev, "Rate limits"); Discord documents no number. */
const SLOT_MS = 1_000;
/** A lane that was not limited for so long after the last limit is asked freely again. */
const SLOW_MS = 60_000;
/** A limit that comes again, with nothing let through between, is waited for longer than the platform asks. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 300_000;
const SPREAD = 0.2;
/** So many wait for a slot here, within the time that a delivery has; the others come again. Urgent ones count half. */
const MAX_WAITING = 5;
/** Lanes that are limited; each is small. */
const MAX_LANES = 1_000;

/** So many requests in a row without an answer, and nothing is asked until one that is tried is answered. */
const SILENT = 5;
const FIRST_BREAK_MS = 1_000;
const LONGEST_BREAK_MS = 30_000;
/** When those that were not asked come again, about. */
const AGAIN_MS = 3_000;

interface Limited {
  /** The platform asked to wait until then. */
  until: number;
  /** When the next one may go. */
  nextAt: number;
  waits: Backoff;
  waiting: { isUrgent: boolean; go(error?: BotError): void }[];
  timer: NodeJS.Timeout | undefined;
}

/** Keeps what a platform asked for, for as long as this process lives, whichever thread asks next. */
export function createPace({ platform, isSilence, log }: PaceParts): Pace {
  const breaker = circuitBreaker(handleAll, {
    breaker: new ConsecutiveBreaker(SILENT),
    halfOpenAfter: new ExponentialBackoff({
      initialDelay: FIRST_BREAK_MS,
      maxDelay: LONGEST_BREAK_MS,
    }),
  });
  breaker.onBreak(() => log.warn(`${platform} does not answer: one request at a time is tried`));
  breaker.onReset(() => log.info(`${platform} answers again`));

  const { limit, went, turn } = createLanes(platform);

  return {
    async ask(lane, request) {
      await turn(lane);
      try {
        const answer = (await breaker.execute(() => answerOf(request, isSilence)))();
        went(lane.name);
        return answer;
      } catch (error) {
        if (isBrokenCircuitError(error)) {
          throw new BotError("PLATFORM_UNREACHABLE", `${platform} does not answer at the moment.`, {
            retryAfterMs: createBackoff(AGAIN_MS, 2 * AGAIN_MS, 0.5).next(),
          });
        }
        if (isBotError(error, "PLATFORM_RATE_LIMITED")) limit(lane.name, error.retryAfterMs ?? 0);
        throw error;
      }
    },
  };
}

/** Urgent ones are there first. */
function leftOf({ until }: Limited, isUrgent: boolean): number {
  return Math.ceil(Math.max(0, until - performance.now())) + (isUrgent ? 0 : SLOT_MS);
}

/** What was limited, and who waits there. */
function createLanes(platform: string) {
  const lanes = new LRUCache<string, Limited>({ max: MAX_LANES });
  const asksToWait = (ms: number) =>
    new BotError("PLATFORM_RATE_LIMITED", `${platform} asks to wait here.`, { retryAfterMs: ms });

  function limit(name: string, askedMs: number): void {
    const lane = lanes.get(name) ?? {
      until: 0,
      nextAt: 0,
      waits: createBackoff(FIRST_WAIT_MS, LONGEST_WAIT_MS, SPREAD),
      waiting: [],
      timer: undefined,
    };
    const now = performance.now();
    // Those that were under way together are one limit.
    const waitMs = lane.until > now ? askedMs : Math.max(askedMs, lane.waits.next());
    lane.until = Math.max(lane.until, now + waitMs);
    lane.nextAt = lane.until;
    lanes.set(name, lane);
    for (const { isUrgent, go } of lane.waiting.splice(0)) go(asksToWait(leftOf(lane, isUrgent)));
  }

  /** The next limit is waited for like the first: a busy channel is not left alone for minutes. */
  function went(name: string): void {
    lanes.get(name)?.waits.reset();
  }

  /** Resolves when it is this one's turn. */
  async function turn({ name, isUrgent = false }: Lane): Promise<void> {
    const lane = lanes.get(name);
    if (lane === undefined) return;
    const now = performance.now();
    if (lane.until > now) throw asksToWait(leftOf(lane, isUrgent));
    if (now > lane.until + SLOW_MS && lane.waiting.length === 0) {
      lanes.delete(name);
      return;
    }
    if (lane.waiting.length >= MAX_WAITING * (isUrgent ? 2 : 1))
      throw asksToWait(lane.waiting.length * SLOT_MS);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const go = (error?: BotError) => (error === undefined ? resolve() : reject(error));
    const before = lane.waiting.findIndex((other) => isUrgent && !other.isUrgent);
    lane.waiting.splice(before < 0 ? lane.waiting.length : before, 0, { isUrgent, go });
    serve(lane);
    await promise;
  }

  /** Lets the first one go as soon as a second has passed. */
  function serve(lane: Limited): void {
    if (lane.timer !== undefined || lane.waiting.length === 0) return;
    const now = performance.now();
    if (lane.nextAt <= now) {
      lane.nextAt = now + SLOT_MS;
      lane.waiting.shift()?.go();
      return serve(lane);
    }
    lane.timer = setTimeout(() => {
      lane.timer = undefined;
      serve(lane);
    }, lane.nextAt - now);
    lane.timer.unref();
  }

  return { limit, went, turn };
}

/** A refusal is an answer too. */
function answerOf<T>(
  request: () => Promise<T>,
  isSilence: (error: unknown) => boolean,
): Promise<() => T> {
  return request().then(
    (value) => () => value,
    (error: unknown) => {
      if (isSilence(error)) throw error;
      return () => {
        throw error;
      };
    },
  );
}
