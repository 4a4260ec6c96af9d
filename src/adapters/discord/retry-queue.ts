import { setTimeout as delay } from "node:timers/promises";
import { createBackoff } from "../../core/backoff.ts";
import { isBotError } from "../../core/errors.ts";
import { askedWaitMs } from "../../core/retry-wait.ts";

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 5_000;

export interface RetryQueueOptions {
  max: number;
  /** A job threw an error that a retry would not help. */
  onFailed(error: unknown): void;
}

/** Jobs that must not be lost while the store or the platform is away, in order per lane. In memory only. */
export function createRetryQueue({ max, onFailed }: RetryQueueOptions) {
  const ends = new Map<string, Promise<void>>();
  const stopped = new AbortController();
  let waiting = 0;
  let givenUp = 0;

  async function run(job: () => Promise<void>): Promise<void> {
    const waits = createBackoff(FIRST_WAIT_MS, MAX_WAIT_MS);
    while (!stopped.signal.aborted) {
      try {
        await job();
        return;
      } catch (error) {
        if (!isAway(error)) {
          onFailed(error);
          return;
        }
        await pause(Math.max(waits.next(), askedWaitMs(error) ?? 0));
      }
    }
    givenUp += 1;
  }

  async function pause(ms: number): Promise<void> {
    // An abort only ends the wait; the loop then stops.
    await delay(ms, undefined, { signal: stopped.signal }).catch(() => {});
  }

  async function follow(lane: string, job: () => Promise<void>): Promise<void> {
    const last = ends.get(lane);
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.set(lane, promise);
    await last;
    await run(job);
    waiting -= 1;
    if (ends.get(lane) === promise) ends.delete(lane);
    resolve();
  }

  return {
    /**
     * Runs the job after those before it in its lane, again (after 250 ms, and at most 5 s) as long as it throws that the
     * store or the platform is away. False when too many wait already; then it is not run.
     */
    add(lane: string, job: () => Promise<void>): boolean {
      if (waiting >= max) return false;
      waiting += 1;
      void follow(lane, job);
      return true;
    },
    /** Lets jobs that are running end and starts none again; resolves with how many were given up. */
    async stop(): Promise<number> {
      stopped.abort();
      await Promise.all(ends.values());
      return givenUp;
    },
  };
}

function isAway(error: unknown): boolean {
  return isBotError(
    error,
    "STORE_UNAVAILABLE",
    "STORE_FULL",
    "PLATFORM_UNREACHABLE",
    "PLATFORM_RATE_LIMITED",
  );
}
