import { setTimeout as sleep } from "node:timers/promises";
import { vi } from "vitest";
import { isBotError } from "../src/core/errors.ts";

/** A machine may be slow; what has not come true by then hangs. Below the limit of a test (vitest.config.ts). */
const PATIENCE_MS = 45_000;

/** Waits for a condition. @throws Error with the condition's text when it does not come true */
export async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !(await what()); await sleep(5)) {
    if (performance.now() > end) throw new Error(`Never came true: ${what.toString()}`);
  }
}

/** Watches for so long that something does not happen. @throws Error with the condition's text when it stops to hold */
export async function holds(what: () => boolean, ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(5)) {
    if (!what()) throw new Error(`Did not hold: ${what.toString()}`);
  }
}

/** Waits until an assertion holds. @throws what it threw last */
export async function eventually(assertion: () => unknown): Promise<void> {
  await vi.waitFor(assertion, { timeout: PATIENCE_MS, interval: 5 });
}

/**
 * From now on the monotonic clock is that much further ahead; `vi.restoreAllMocks` sets it right, for the tests that follow too.
 * Timers are not early.
 */
export function skip(ms: number): void {
  const aheadMs = performance.now() - realNow() + ms;
  vi.spyOn(performance, "now").mockImplementation(() => realNow() + aheadMs);
}

const realNow = performance.now.bind(performance);

/** Asks again while the store is away, as a worker does. @throws whatever else it threw */
export async function insist<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (!isBotError(error, "STORE_UNAVAILABLE")) throw error;
    }
  }
}
