import { noticeId } from "../thread/entry-ids.ts";
import { type JournalKey, transportOf } from "../core/journal-key.ts";
import { BEAT_MS } from "../core/host-beat.ts";
import type { Thread } from "../thread/state.ts";
import { abortWork } from "./background.ts";
import { noteNewest, storeNow } from "./context.ts";
import { renew } from "./lease.ts";
import { catchUp, append, markLost, retryUntilStored } from "./store.ts";
import { createContext, type ThreadContext, type WorkerParts } from "./thread/context.ts";
import type { Machines } from "../thread/machines.ts";
import { decide, type Step } from "../thread/decide.ts";
import { execute } from "./thread/effects.ts";

/** When to look again at a journal that only a newer program understands. */
const NEWER_RETRY_MS = 60_000;
/** Leases without a release after which a journal's work is taken to crash its workers: two crashes. */
const PARK_AFTER = 2;
/** Something may be due that only work in progress lets happen; it rings when it ends. */
const MIN_SLEEP_MS = 50;
/** Between two leases of a journal to which nobody has posted. */
const MIN_LEASE_GAP_MS = 250;
/** Threads whose folds are kept in memory, some KB each. */
const KNOWN_THREADS = 256;
/** Kept of the drain for writing down what could not be waited for. */
const LAST_WORDS_MS = 500;

export interface Worker {
  /** Takes the journal's lease, if nobody has it and its view is here, and works until nothing is owed now. */
  work(key: JournalKey): Promise<void>;
  /** The names of the steps in progress, each after its journal's key. */
  atWork(): string[];
  /**
   * Ends: reads are cut and will be run again by the next start, writes are waited for up to `graceMs`, and those still
   * running are then written down as unknown.
   */
  stop(graceMs: number): Promise<void>;
}

export function createWorker(parts: WorkerParts): Worker {
  const drives = new Map<ThreadContext, Promise<void>>();
  /** Writes that still run though their journal was lost to another worker: what they come to is posted. */
  const late = new Set<Promise<void>>();
  /** Folds of journals held lately, so that taking one up again reads only what is new. */
  const known = new Map<JournalKey, Thread>();
  let draining = false;

  function remember({ key, thread }: ThreadContext): void {
    known.set(key, thread);
    for (const oldest of known.keys()) {
      if (known.size <= KNOWN_THREADS) return;
      known.delete(oldest);
    }
  }

  async function drive(each: ThreadContext): Promise<void> {
    known.delete(each.key); // folded in place: of no use to anyone if this ends half-way
    try {
      await hold(each);
      if (each.lost) await startOver(each);
      else if (each.thread.newer === undefined) remember(each);
    } finally {
      for (const { ended } of each.busy.values()) {
        late.add(ended);
        void ended.then(() => late.delete(ended));
      }
    }
  }

  return {
    async work(key) {
      const adapter = parts.adapterOf(transportOf(key));
      if (adapter?.view(key) === undefined || draining) return;
      const askedAt = performance.now();
      const granted = await parts.journal.lease(key, parts.leaseMs);
      if (granted === undefined) return;
      const taken = createContext(parts, adapter, granted, known.get(key), askedAt);
      taken.draining = draining;
      const work = drive(taken);
      drives.set(taken, work);
      await work.finally(() => drives.delete(taken));
    },

    atWork: () =>
      [...drives.keys()].flatMap(({ key, busy }) =>
        [...busy.keys()].map((step) => `${key} ${step}`),
      ),

    async stop(graceMs) {
      draining = true;
      for (const each of drives.keys()) {
        each.draining = true;
        abortWork(each, () => true);
        each.wakeSignal.notify();
      }
      const ended = async (ms: number) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, ms);
        await Promise.race([Promise.allSettled([...drives.values(), ...late]), promise]);
        clearTimeout(timer);
      };
      await ended(Math.max(0, graceMs - LAST_WORDS_MS));
      // Cut, a write's outcome is unknown; that is recorded before the lease is given back.
      for (const { busy } of drives.keys())
        for (const work of busy.values()) work.controller.abort();
      await ended(LAST_WORDS_MS);
      for (const each of drives.keys()) each.abandoned = true;
    },
  };
}

/** Drives while the lease is renewed and the journal watched. */
async function hold(ctx: ThreadContext): Promise<void> {
  const { journal, log } = ctx.parts;
  const watch = journal.watch(ctx.key, (last) => noteNewest(ctx, last));
  const renewals = keepLease(ctx);
  try {
    await catchUp(ctx);
    await loop(ctx);
  } finally {
    ctx.over = true;
    clearInterval(renewals);
    await watch.stop();
    abortWork(ctx, () => true);
    // What was begun and is no longer this worker's to decide ends here; known outcomes of writes are posted.
    for (const conclude of ctx.ready.splice(0)) {
      await conclude().catch((error: unknown) => {
        log.error({ err: error, key: ctx.key }, "a late outcome could not be written");
      });
    }
  }
}

/** Renews the lease, also one of a thread that was lost, until the timer is cleared. */
function keepLease(ctx: ThreadContext): NodeJS.Timeout {
  return setInterval(() => {
    renew(ctx).catch((error: unknown) => {
      ctx.parts.log.warn({ err: error, key: ctx.key }, "the lease could not be renewed yet");
    });
  }, ctx.lease.ttlMs / 3);
}

async function loop(ctx: ThreadContext): Promise<void> {
  const { thread, wakeSignal: bell } = ctx;
  if (thread.newer === undefined && ctx.attempts > PARK_AFTER && !thread.parked) await park(ctx);
  while (!ctx.fenced) {
    if (ctx.mayBeSetBack || ctx.newestHeard > thread.last) await catchUp(ctx);
    const conclude = ctx.ready.shift();
    if (conclude !== undefined) {
      await conclude();
      continue;
    }
    if (thread.newer !== undefined && ctx.busy.size === 0) return leaveAlone(ctx);
    if (ctx.awayMs !== undefined) await sayBack(ctx, ctx.awayMs);
    const step = stepOf(ctx);
    if (step.do !== "wait") await execute(ctx, step);
    else if (ctx.busy.size > 0) {
      const ms = step.until === undefined ? undefined : step.until - storeNow(ctx);
      await bell.wait(ms === undefined ? undefined : Math.max(ms, MIN_SLEEP_MS));
    } else if (await release(ctx, step)) return;
  }
}

function stepOf(ctx: ThreadContext): Step {
  const now = storeNow(ctx);
  for (const [key, until] of ctx.deferred) if (until <= now) ctx.deferred.delete(key);
  const busy = new Set([...ctx.busy.keys(), ...ctx.deferred.keys()]);
  // A newer program's entry hides what follows: nothing may be decided, only work in progress is waited for.
  if (ctx.thread.newer !== undefined) return { do: "wait", until: undefined };
  const step = decide(ctx.thread, {
    now,
    busy,
    draining: ctx.draining,
    showAfterMs: showAfterMs(ctx),
    machines: machinesOf(ctx),
  });
  if (step.do !== "wait" || ctx.deferred.size === 0) return step;
  return { ...step, until: Math.min(step.until ?? Infinity, ...ctx.deferred.values()) };
}

/** What is known of who is there; after a beat's time the store is asked again. */
function machinesOf({ parts, hosts, key }: ThreadContext): Machines {
  const isFresh = hosts !== undefined && performance.now() - hosts.at < BEAT_MS;
  return {
    here: parts.dispatcher.host,
    isBound: (tool) => parts.dispatcher.isHostBound(tool),
    isShared: parts.isShared(transportOf(key)),
    heard: isFresh ? hosts.heard : undefined,
  };
}

/** When a run's progress gets a message here, if it does. */
function showAfterMs({ adapter, key, parts }: ThreadContext): number | undefined {
  return adapter.view(key)?.openProgress === undefined ? undefined : parts.showAfterMs;
}

/** Its work crashed twice: says so, shows what is owed, and waits for a person to write. */
async function park(ctx: ThreadContext): Promise<void> {
  const { last } = ctx.thread;
  await append(ctx, [
    {
      id: noticeId.parked(last),
      kind: "notice",
      parks: true,
      text: "Work on this thread crashed twice, so it is put aside. Write anything here to have it tried again.",
    },
  ]);
}

/**
 * Gives the lease back and says when something is next owed, and to which host: its processes find it by themselves. False
 * when there is more to look at first.
 */
async function release(
  ctx: ThreadContext,
  waiting: Extract<Step, { do: "wait" }>,
): Promise<boolean> {
  const { thread, parts, lease } = ctx;
  const left = ctx.draining
    ? decide(thread, {
        now: storeNow(ctx),
        busy: new Set(),
        draining: false,
        showAfterMs: undefined,
        machines: machinesOf(ctx),
      })
    : waiting;
  const now = storeNow(ctx);
  const isOwed = left.do !== "wait";
  const { until } = waiting;
  const host = isOwed ? undefined : left.host;
  // Left over for another process: at once. Else not sooner than the floor, however often this wakes up too early. Stores
  // keep whole milliseconds; platforms ask for parts of them.
  const floor =
    until === undefined ? undefined : Math.ceil(Math.max(until, now + MIN_LEASE_GAP_MS));
  const dueAt = isOwed ? now : floor;
  const reply = await retryUntilStored(ctx, () =>
    parts.journal.release(lease, thread, dueAt, host),
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
  // The wake-ups' timers go by this process's clock, `dueAt` by the store's.
  if (dueAt !== undefined) parts.wakeAt(ctx.key, Date.now() + (dueAt - now));
  return true;
}

/**
 * Gives back a thread that is no longer what was folded of it, for somebody to begin again, once what runs has ended: until
 * then the lease is kept, or another worker would run it beside.
 */
async function startOver(ctx: ThreadContext): Promise<void> {
  const { parts, key, lease, busy } = ctx;
  const { journal, log } = parts;
  log.error(
    { key },
    "the store no longer has what was read of this thread, as after a failover or a restored backup; it is read again",
  );
  const renewals = keepLease(ctx);
  await Promise.all([...busy.values()].map(({ ended }) => ended));
  clearInterval(renewals);
  const last = (await journal.read(key)).at(-1)?.seq ?? 0;
  const reply = await journal.release(lease, last, storeNow(ctx));
  if (reply.kind === "ok") parts.wakeAt(key, 0);
}

/** The store was away and is back: nothing was done meanwhile, and people are told. */
async function sayBack(ctx: ThreadContext, awayMs: number): Promise<void> {
  ctx.awayMs = undefined;
  const seconds = Math.round(awayMs / 1_000);
  await append(ctx, [
    {
      id: noticeId.back(ctx.thread.last),
      kind: "notice",
      text: `The store did not answer for ${seconds} s; nothing was done meanwhile. It is back.`,
    },
  ]);
}

/** A newer program wrote here: nothing is decided, and somebody newer may take it. */
async function leaveAlone(ctx: ThreadContext): Promise<void> {
  const { journal, log } = ctx.parts;
  log.error(
    { key: ctx.key, entry: ctx.thread.newer?.written },
    "a newer version wrote this thread; leaving it alone",
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
