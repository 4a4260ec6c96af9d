import { isWait, type JournalContext, type Wait } from "./key-handler.ts";
import { catchUp, markLost, retryUntilStored, written } from "./store.ts";

/** Renews a lease that has run out by this worker's own clock. False when another worker has taken it. */
export async function ensureLive(ctx: JournalContext): Promise<boolean> {
  if (ctx.fenced) return false;
  if (performance.now() < ctx.leaseEndsAt) return true;
  await retryUntilStored(ctx, () => renew(ctx));
  return !ctx.fenced;
}

async function renew(ctx: JournalContext): Promise<void> {
  const askedAt = performance.now();
  const reply = await ctx.journal.renew(ctx.lease);
  if (reply.kind === "fenced") {
    ctx.fenced = true;
    ctx.wakeSignal.notify();
    return;
  }
  ctx.leaseEndsAt = askedAt + ctx.lease.ttlMs;
  ctx.noteClock(reply.now);
  ctx.noteNewest(reply.last);
}

export function keepLease(ctx: JournalContext): NodeJS.Timeout {
  return setInterval(() => {
    renew(ctx).catch((error: unknown) => {
      ctx.log.warn({ err: error, key: ctx.key }, "the lease could not be renewed yet");
    });
  }, ctx.lease.ttlMs / 3);
}

/** When to look again at a journal that only a newer program understands. */
const NEWER_RETRY_MS = 60_000;

/** Least time between two leases of a journal to which nobody has posted. */
const MIN_LEASE_GAP_MS = 250;

/**
 * Gives the lease back and tells the store when something is next owed, and for which host. False when there is more to
 * look at first.
 */
export async function release(ctx: JournalContext, waiting: Wait): Promise<boolean> {
  const { handler, state, journal, lease } = ctx;
  await written(ctx);
  if (ctx.lost !== undefined) return false;
  const now = ctx.now();
  const left = ctx.draining
    ? handler.next(ctx, { now, busy: new Set(), draining: false })
    : waiting;
  const isOwed = !isWait(left);
  const { until } = waiting;
  const host = isOwed ? undefined : left.host;
  // What is left for another process is due at once; else the floor keeps early wake-ups from spinning. Stores keep whole
  // milliseconds, platforms ask for fractions.
  const floor =
    until === undefined ? undefined : Math.ceil(Math.max(until, now + MIN_LEASE_GAP_MS));
  const dueAt = isOwed ? now : floor;
  const isListed = dueAt !== undefined || host !== undefined;
  const listed = isListed ? handler.listed?.(ctx) : undefined;
  const reply = await retryUntilStored(ctx, () =>
    journal.release(lease, state, dueAt, host, listed),
  );
  if (reply.kind === "unseen") {
    ctx.newestHeard = reply.unseen.at(-1)?.seq ?? ctx.newestHeard;
    await catchUp(ctx);
    return false;
  }
  if (reply.kind === "lost") {
    markLost(ctx);
    return false;
  }
  // Wake-up timers run on this process's clock, `dueAt` is on the store's.
  if (dueAt !== undefined) ctx.wakeAt(ctx.key, Date.now() + (dueAt - now));
  return true;
}

/**
 * Gives back a journal whose entries are no longer those that were folded, so that some worker reads it again. Keeps the
 * lease until running work has ended, or that worker would run it a second time.
 */
export async function startOver(ctx: JournalContext): Promise<void> {
  const { journal, log, key, lease, busy } = ctx;
  if (ctx.lost === "overtaken") log.debug({ key }, "somebody else wrote first; it is read again");
  else
    log.error(
      { key },
      "the store no longer has what was read of this journal, as after a failover or a restored backup; it is read again",
    );
  const renewals = keepLease(ctx);
  await Promise.all([...busy.values()].map(({ ended }) => ended));
  clearInterval(renewals);
  let last = (await journal.summary(key))?.last ?? 0;
  for (;;) {
    const reply = await journal.release(lease, last, ctx.now());
    if (reply.kind === "ok") ctx.wakeAt(key, 0);
    if (reply.kind !== "unseen") return;
    last = reply.unseen.at(-1)?.seq ?? last;
  }
}

/** Gives back a journal in which a newer program has written: only such a one can decide. */
export async function leaveAlone(ctx: JournalContext): Promise<void> {
  const { journal, log } = ctx;
  log.error(
    { key: ctx.key, entry: ctx.state.newer?.written },
    "a newer version wrote this journal; leaving it alone",
  );
  let entries = await retryUntilStored(ctx, () => journal.read(ctx.key));
  for (;;) {
    const last = entries.at(-1)?.seq ?? 0;
    const dueAt = ctx.now() + NEWER_RETRY_MS;
    const reply = await retryUntilStored(ctx, () => journal.release(ctx.lease, last, dueAt));
    if (reply.kind !== "unseen") return;
    entries = reply.unseen;
  }
}
