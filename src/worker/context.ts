import type { ThreadContext } from "./thread/context.ts";

/** The store's clock now, ms since 1970. */
export function storeNow({ heardNow }: ThreadContext): number {
  return heardNow.store + Math.floor(performance.now() - heardNow.at);
}

export function noteClock(ctx: ThreadContext, store: number): void {
  ctx.heardNow = { store, at: performance.now() };
}

/** The journal's last entry is said to be number `last`; a hint that there is something to read. */
export function noteNewest(ctx: ThreadContext, last: number): void {
  ctx.newestHeard = Math.max(ctx.newestHeard, last);
  ctx.mayBeSetBack ||= last < ctx.thread.last;
  ctx.wakeSignal.notify();
}
