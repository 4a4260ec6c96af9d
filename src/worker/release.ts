import { storeNow } from "./context.ts";
import { isWait, type JournalContext, type Wait } from "./handler.ts";
import { keepLease } from "./lease.ts";
import { catchUp, markLost, retryUntilStored } from "./store.ts";

/** When to look again at a journal that only a newer program understands. */
const NEWER_RETRY_MS = 60_000;

/** Least time between two leases of a journal to which nobody has posted. */
const MIN_LEASE_GAP_MS = 250;

/**
 * Gives the lease back and tells the store when something is next owed, and for which host. False when there is more to
 * look at first.
 */
export async function release(ctx: JournalContext, waiting: Wait): Promise<boolean> {
  const { handler, state, parts, lease } = ctx;
  const now = storeNow(ctx);
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
  const reply = await retryUntilStored(ctx, () => parts.journal.release(lease, state, dueAt, host));
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
  if (dueAt !== undefined) parts.wakeAt(ctx.key, Date.now() + (dueAt - now));
  return true;
}

/**
 * Gives back a journal whose entries are no longer those that were folded, so that some worker reads it again. Keeps the
 * lease until running work has ended, or that worker would run it a second time.
 */
export async function startOver(ctx: JournalContext): Promise<void> {
  const { parts, key, lease, busy } = ctx;
  const { journal, log } = parts;
  log.error(
    { key },
    "the store no longer has what was read of this journal, as after a failover or a restored backup; it is read again",
  );
  const renewals = keepLease(ctx);
  await Promise.all([...busy.values()].map(({ ended }) => ended));
  clearInterval(renewals);
  const last = (await journal.read(key)).at(-1)?.seq ?? 0;
  const reply = await journal.release(lease, last, storeNow(ctx));
  if (reply.kind === "ok") parts.wakeAt(key, 0);
}

/** Gives back a journal in which a newer program has written: only such a one can decide. */
export async function leaveAlone(ctx: JournalContext): Promise<void> {
  const { journal, log } = ctx.parts;
  log.error(
    { key: ctx.key, entry: ctx.state.newer?.written },
    "a newer version wrote this journal; leaving it alone",
  );
  let entries = await retryUntilStored(ctx, () => journal.read(ctx.key));
  for (;;) {
    const last = entries.at(-1)?.seq ?? 0;
    const dueAt = storeNow(ctx) + NEWER_RETRY_MS;
    const reply = await retryUntilStored(ctx, () => journal.release(ctx.lease, last, dueAt));
    if (reply.kind !== "unseen") return;
    entries = reply.unseen;
  }
}
