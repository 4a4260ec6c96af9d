import { type ErrorCode, isBotError } from "./errors.ts";

/** How long the other side asked to wait, in ms; with `codes`, only where the error has one of them. */
export function askedWaitMs(error: unknown, ...codes: ErrorCode[]): number | undefined {
  return isBotError(error, ...codes) ? error.retryAfterMs : undefined;
}

/** As long as the other side asks, else a quarter of the time since it was due: longer each time, within the bounds. In ms. */
export function nextWaitMs(
  error: unknown,
  sinceMs: number,
  { min, max }: { min: number; max: number },
): number {
  return askedWaitMs(error) ?? Math.min(max, Math.max(min, sinceMs / 4));
}
