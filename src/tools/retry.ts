import { setTimeout as sleep } from "node:timers/promises";
import { isBotError } from "../core/errors.ts";

/** CORE 003.14: three attempts in all, 200 ms before the second and twice that before the third. */
const MAX_ATTEMPTS = 3;
const FIRST_WAIT_MS = 200;
/** Spreads what failed together, ±25 %. */
const JITTER = 0.25;

/**
 * Tries again what throws CONNECTION_FAILED: for reads only, as a write whose connection broke may have happened. The
 * signal's abort ends the wait.
 * @throws what the last attempt threw, or what the signal's abort makes of the wait
 */
export async function retryConnection<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isBotError(error, "CONNECTION_FAILED")) throw error;
      await sleep(retryWaitMs(attempt, Math.random()), undefined, { signal });
    }
  }
}

/** How long to wait after the attempt of that number, the first being 1. `random`: 0 to 1. */
export function retryWaitMs(attempt: number, random: number): number {
  return FIRST_WAIT_MS * 2 ** (attempt - 1) * (1 - JITTER + 2 * JITTER * random);
}
