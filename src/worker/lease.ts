import { noteClock, noteNewest } from "./context.ts";
import { retryUntilStored } from "./store.ts";
import type { ThreadContext } from "./thread/context.ts";

/** Makes sure the lease has not run out by this worker's own clock. False when another worker has it. */
export async function ensureLive(ctx: ThreadContext): Promise<boolean> {
  if (ctx.fenced) return false;
  if (performance.now() < ctx.leaseEndsAt) return true;
  await retryUntilStored(ctx, () => renew(ctx));
  return !ctx.fenced;
}

export async function renew(ctx: ThreadContext): Promise<void> {
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
