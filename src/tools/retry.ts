import { setTimeout as sleep } from "node:timers/promises";
import type { Backoff } from "../core/backoff.ts";
import { isBotError } from "../core/errors.ts";

const MAX_ATTEMPTS = 3;

/**
 * Tries again what throws CONNECTION_FAILED: for reads only, as a write whose connection broke may have happened. The
 * signal's abort ends the wait.
 * @throws what the last attempt threw, or what the signal's abort makes of the wait
 */
export async function retryConnection<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  let waits: Backoff | undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isBotError(error, "CONNECTION_FAILED")) throw error;
      waits ??= await connectionBackoff();
      await sleep(waits.next(), undefined, { signal });
    }
  }
}

/** 200 and 400 ms, each ±25 %. Loaded by the first failure: a start does not need it. */
async function connectionBackoff(): Promise<Backoff> {
  const { createBackoff } = await import("../core/backoff.ts");
  return createBackoff(200, 500, 0.25);
}
