import { LRUCache } from "lru-cache";
import { atMost } from "../core/time-limit.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { Lane, Slot } from "../wakeups/wakeups.ts";
import { abortWork } from "./background.ts";
import {
  type Folded,
  isWait,
  JournalContext,
  type KeyHandler,
  type Wait,
  type WorkerParts,
} from "./key-handler.ts";
import { keepLease, leaveAlone, release, startOver } from "./lease.ts";
import { keepSnapshot, takeUp } from "./snapshots.ts";
import { catchUp } from "./store.ts";

/** After as many leases without a release, a journal's work has crashed its workers twice. */
const PARK_AFTER = 2;

/** What is due may have to wait for work in progress, whose end wakes the loop: don't spin until then. */
const MIN_SLEEP_MS = 50;

/** Journals whose folds are kept in memory, and how much they take together. */
const KNOWN_JOURNALS = 256;
const KNOWN_BYTES = 64 * 1024 * 1024;
const SOME_BYTES = 4 * 1024;

/** The end of the drain is kept for recording what could not be waited for. */
const LAST_WORDS_MS = 500;

export type Worker = ReturnType<typeof createWorker>;

/** `handlerOf` knows each kind of journal that this process works on; it leaves others alone. */
export function createWorker(
  parts: WorkerParts,
  handlerOf: (key: JournalKey) => KeyHandler | undefined,
) {
  const held = new Map<JournalContext, Promise<void>>();
  /** Writes still running after another worker took their journal; they post their outcome when they end. */
  const late = new Set<Promise<void>>();
  /** Folds of journals held lately: taking one up again reads only what is new. */
  const known = new LRUCache<JournalKey, Folded>({
    max: KNOWN_JOURNALS,
    maxSize: KNOWN_BYTES,
    sizeCalculation: (state, key) => handlerOf(key)?.bytesOf?.(state) ?? SOME_BYTES,
  });
  let draining = false;

  async function drive(ctx: JournalContext, slot: Slot): Promise<void> {
    known.delete(ctx.key); // it is folded in place, and half a fold must not be kept if this throws
    const { last: began } = ctx.state;
    try {
      await hold(ctx, slot);
      if (ctx.lost !== undefined) await startOver(ctx);
      // Facts that never reached the store are in a fold that nobody may go on from.
      else if (ctx.state.newer === undefined && ctx.behind.stored === undefined) {
        known.set(ctx.key, ctx.state);
        await keepSnapshot(ctx, began);
      }
    } finally {
      for (const { ended } of ctx.busy.values()) {
        late.add(ended);
        void ended.then(() => late.delete(ended));
      }
    }
  }

  const serves = (key: JournalKey) => handlerOf(key)?.serves(key) === true;

  return {
    /** Takes the journal's lease, if it is free and this process serves the journal, and works until nothing is owed now. */
    async work(key: JournalKey, slot: Slot = UNLIMITED): Promise<void> {
      const handler = handlerOf(key);
      if (handler?.serves(key) !== true || draining) return;
      const askedAt = performance.now();
      const granted = await parts.journal.lease(key, parts.leaseMs);
      if (granted === undefined) return;
      parts.events?.publish({ kind: "taken", key, attempts: granted.attempts });
      const state = known.get(key) ?? (await takeUp(parts, handler, granted));
      const ctx = new JournalContext(parts, handler, granted, state, askedAt);
      Object.assign(ctx, handler.open(ctx));
      ctx.draining = draining;
      const work = drive(ctx, slot);
      held.set(ctx, work);
      await work.finally(() => held.delete(ctx));
    },

    async *due(host: string): AsyncIterable<JournalKey> {
      for await (const key of parts.journal.due(host)) if (serves(key)) yield key;
    },

    /** Whether this process works on such a journal. */
    serves,

    /** Steps in progress, as `<journal key> <step>`. */
    atWork: (): string[] =>
      [...held.keys()].flatMap(({ key, busy }) => [...busy.keys()].map((step) => `${key} ${step}`)),

    /**
     * Ends: reads are cut and will be run again by the next start, writes are waited for up to `graceMs`, and those still
     * running are then written down as unknown.
     */
    async stop(graceMs: number): Promise<void> {
      draining = true;
      for (const ctx of held.keys()) {
        ctx.draining = true;
        abortWork(ctx, () => true);
        ctx.wakeSignal.notify();
      }
      const ended = (ms: number) =>
        atMost(ms, Promise.allSettled([...held.values(), ...late]), () => {});
      await ended(Math.max(0, graceMs - LAST_WORDS_MS));
      // A cut write's outcome is unknown: record that before the lease is given back.
      for (const { busy } of held.keys()) for (const work of busy.values()) work.controller.abort();
      await ended(LAST_WORDS_MS);
      for (const ctx of held.keys()) ctx.abandoned = true;
    },
  };
}

/** For a journal that shares with no others. */
const UNLIMITED: Slot = {
  lendWhile: (waiting) => waiting,
  pass: async () => {},
  giveBack() {},
};

async function hold(ctx: JournalContext, slot: Slot): Promise<void> {
  const watch = ctx.journal.watch(ctx.key, (last) => ctx.noteNewest(last));
  const renewals = keepLease(ctx);
  try {
    await catchUp(ctx);
    await loop(ctx, slot);
  } finally {
    ctx.over = true;
    slot.giveBack();
    clearInterval(renewals);
    await watch.stop();
    abortWork(ctx, () => true);
    await ctx.behind.writing?.catch(() => {});
    // This worker decides no more, but a write's known outcome must not be lost: its conclusion posts it.
    for (const conclusion of ctx.ready.splice(0)) {
      await conclusion().catch((error: unknown) => {
        ctx.log.error({ err: error, key: ctx.key }, "a late outcome could not be written");
      });
    }
    await ctx.handler.close?.(ctx);
  }
}

async function loop(ctx: JournalContext, slot: Slot): Promise<void> {
  const lane = () => laneOf(ctx);
  const { handler, state, wakeSignal } = ctx;
  if (state.newer === undefined && ctx.attempts > PARK_AFTER) await handler.park(ctx);
  while (!ctx.fenced) {
    await slot.pass(lane);
    if (ctx.mayBeSetBack || ctx.newestHeard > state.last) await catchUp(ctx);
    if (ctx.lost !== undefined) return;
    const conclusion = ctx.ready.shift();
    if (conclusion !== undefined) {
      await conclusion();
      continue;
    }
    if (state.newer !== undefined && ctx.busy.size === 0) return leaveAlone(ctx);
    const { awayMs } = ctx;
    ctx.awayMs = undefined;
    if (awayMs !== undefined) await handler.storeReturned?.(ctx, awayMs);
    const step = nextStep(ctx);
    if (!isWait(step)) await handler.execute(ctx, step);
    else if (ctx.busy.size > 0) {
      const ms = step.until === undefined ? undefined : step.until - ctx.now();
      const end = wakeSignal.wait(ms === undefined ? undefined : Math.max(ms, MIN_SLEEP_MS));
      await slot.lendWhile(end, lane);
    } else if (await release(ctx, step)) return;
  }
}

/** What somebody has just written or pressed comes before work that goes on. */
function laneOf({ handler, state, newestHeard }: JournalContext): Lane {
  const isAwaited = newestHeard > state.last || handler.isAwaited?.(state) === true;
  return isAwaited ? "people" : "runs";
}

function nextStep(ctx: JournalContext): { do: string } | Wait {
  const { handler, state, deferred, draining } = ctx;
  const now = ctx.now();
  for (const [key, until] of deferred) if (until <= now) deferred.delete(key);
  // Nothing can be decided past a newer program's entry; only wait for work in progress.
  if (state.newer !== undefined) return { do: "wait", until: undefined };
  const busy = deferred.size === 0 ? ctx.busy : new Set([...ctx.busy.keys(), ...deferred.keys()]);
  const step = handler.next(ctx, { now, busy, draining });
  if (!isWait(step) || deferred.size === 0) return step;
  return { ...step, until: Math.min(step.until ?? Infinity, ...deferred.values()) };
}
