import type { Granted } from "../journal/journal.ts";
import type { Folded, JournalContext, KeyHandler, WorkerParts } from "./handler.ts";
import { createWakeSignal } from "./wake-signal.ts";

/** `askedAt`: when the lease was asked for, on this worker's monotonic clock. */
export function createContext<State extends Folded>(
  parts: WorkerParts,
  handler: KeyHandler,
  { lease, attempts, now }: Granted,
  state: State,
  askedAt: number,
): JournalContext<State> {
  return {
    parts,
    handler,
    key: lease.key,
    lease,
    state,
    wakeSignal: createWakeSignal(),
    busy: new Map(),
    ready: [],
    writes: new Map(),
    deferred: new Map(),
    wrote: new Set(),
    attempts,
    newestHeard: 0,
    mayBeSetBack: false,
    fenced: false,
    lost: false,
    draining: false,
    abandoned: false,
    over: false,
    leaseEndsAt: askedAt + lease.ttlMs,
    heardNow: { store: now, at: performance.now() },
    awaySince: undefined,
    awayMs: undefined,
  };
}

/** The store's clock now, ms since 1970. */
export function storeNow({ heardNow }: JournalContext): number {
  return heardNow.store + Math.floor(performance.now() - heardNow.at);
}

export function noteClock(ctx: JournalContext, store: number): void {
  ctx.heardNow = { store, at: performance.now() };
}

/** Hears that the journal's last entry is number `last`: a hint that there is something to read. */
export function noteNewest(ctx: JournalContext, last: number): void {
  ctx.newestHeard = Math.max(ctx.newestHeard, last);
  ctx.mayBeSetBack ||= last < ctx.state.last;
  ctx.wakeSignal.notify();
}
