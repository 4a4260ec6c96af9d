import { noteClock, noteNewest } from "./context.ts";
import { retryUntilStored } from "./store.ts";
import type { JournalContext } from "./handler.ts";

/** Renews a lease that has run out by this worker's own clock. False when another worker has taken it. */
export async function ensureLive(ctx: JournalContext): Promise<boolean> {
  if (ctx.fenced) return false;
  if (performance.now() < ctx.leaseEndsAt) return true;
  await retryUntilStored(ctx, () => renew(ctx));
  return !ctx.fenced;
}

async function renew(ctx: JournalContext): Promise<void> {
  const askedAt = performance.now();
  const reply = await ctx.parts.journal.renew(ctx.lease);
  if (reply.kind === "fenced") {
    ctx.fenced = true;
    ctx.wakeSignal.notify();
    return;
  }
  ctx.leaseEndsAt = askedAt + ctx.lease.ttlMs;
  noteClock(ctx, reply.now);
  noteNewest(ctx, reply.last);
}

/** Renews the lease until the timer is cleared. */
export function keepLease(ctx: JournalContext): NodeJS.Timeout {
  return setInterval(() => {
    renew(ctx).catch((error: unknown) => {
      ctx.parts.log.warn({ err: error, key: ctx.key }, "the lease could not be renewed yet");
    });
  }, ctx.lease.ttlMs / 3);
}
