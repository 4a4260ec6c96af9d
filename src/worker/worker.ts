import { type JournalKey, transportOf } from "../core/journal-key.ts";
import { BEAT_MS } from "../core/host-beat.ts";
import type { Thread } from "../thread/state.ts";
import {
  absorb,
  append,
  createDrive,
  cut,
  type Drive,
  hint,
  lose,
  persist,
  renew,
  storeNow,
  type WorkerParts,
} from "./context.ts";
import type { Machines } from "../thread/machines.ts";
import { nextStep, type Step } from "../thread/decide.ts";
import { perform } from "./effects.ts";

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
  const drives = new Map<Drive, Promise<void>>();
  /** Writes that still run though their journal was lost to another worker: what they come to is posted. */
  const late = new Set<Promise<void>>();
  /** Folds of journals held lately, so that taking one up again reads only what is new. */
  const known = new Map<JournalKey, Thread>();
  let draining = false;

  function remember({ key, thread }: Drive): void {
    known.set(key, thread);
    for (const oldest of known.keys()) {
      if (known.size <= KNOWN_THREADS) return;
      known.delete(oldest);
    }
  }

  async function drive(each: Drive): Promise<void> {
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
      const taken = createDrive(parts, adapter, granted, known.get(key), askedAt);
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
        cut(each, () => true);
        each.bell.ring();
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
async function hold(drive: Drive): Promise<void> {
  const { journal, log } = drive.parts;
  const watch = journal.watch(drive.key, (last) => hint(drive, last));
  const renewals = keepLease(drive);
  try {
    await absorb(drive);
    await loop(drive);
  } finally {
    drive.over = true;
    clearInterval(renewals);
    await watch.stop();
    cut(drive, () => true);
    // What was begun and is no longer this worker's to decide ends here; known outcomes of writes are posted.
    for (const conclude of drive.ready.splice(0)) {
      await conclude().catch((error: unknown) => {
        log.error({ err: error, key: drive.key }, "a late outcome could not be written");
      });
    }
  }
}

/** Renews the lease, also one of a thread that was lost, until the timer is cleared. */
function keepLease(drive: Drive): NodeJS.Timeout {
  return setInterval(() => {
    renew(drive).catch((error: unknown) => {
      drive.parts.log.warn({ err: error, key: drive.key }, "the lease could not be renewed yet");
    });
  }, drive.lease.ttlMs / 3);
}

async function loop(drive: Drive): Promise<void> {
  const { thread, bell } = drive;
  if (thread.newer === undefined && drive.attempts > PARK_AFTER && !thread.parked)
    await park(drive);
  while (!drive.fenced) {
    if (drive.doubted || drive.heard > thread.last) await absorb(drive);
    const conclude = drive.ready.shift();
    if (conclude !== undefined) {
      await conclude();
      continue;
    }
    if (thread.newer !== undefined && drive.busy.size === 0) return leaveAlone(drive);
    if (drive.awayMs !== undefined) await sayBack(drive, drive.awayMs);
    const step = stepOf(drive);
    if (step.do !== "wait") await perform(drive, step);
    else if (drive.busy.size > 0) {
      const ms = step.until === undefined ? undefined : step.until - storeNow(drive);
      await bell.rung(ms === undefined ? undefined : Math.max(ms, MIN_SLEEP_MS));
    } else if (await release(drive, step)) return;
  }
}

function stepOf(drive: Drive): Step {
  const now = storeNow(drive);
  for (const [key, until] of drive.deferred) if (until <= now) drive.deferred.delete(key);
  const busy = new Set([...drive.busy.keys(), ...drive.deferred.keys()]);
  // A newer program's entry hides what follows: nothing may be decided, only work in progress is waited for.
  if (drive.thread.newer !== undefined) return { do: "wait", until: undefined };
  const step = nextStep(drive.thread, {
    now,
    busy,
    draining: drive.draining,
    showAfterMs: showAfterMs(drive),
    machines: machinesOf(drive),
  });
  if (step.do !== "wait" || drive.deferred.size === 0) return step;
  return { ...step, until: Math.min(step.until ?? Infinity, ...drive.deferred.values()) };
}

/** What is known of who is there; after a beat's time the store is asked again. */
function machinesOf({ parts, hosts, key }: Drive): Machines {
  const isFresh = hosts !== undefined && performance.now() - hosts.at < BEAT_MS;
  return {
    here: parts.dispatcher.host,
    isBound: (tool) => parts.dispatcher.isHostBound(tool),
    isShared: parts.isShared(transportOf(key)),
    heard: isFresh ? hosts.heard : undefined,
  };
}

/** When a run's progress gets a message here, if it does. */
function showAfterMs({ adapter, key, parts }: Drive): number | undefined {
  return adapter.view(key)?.begin === undefined ? undefined : parts.showAfterMs;
}

/** Its work crashed twice: says so, shows what is owed, and waits for a person to write. */
async function park(drive: Drive): Promise<void> {
  const { last } = drive.thread;
  await append(drive, [
    {
      id: `parked:${last}`,
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
async function release(drive: Drive, waiting: Extract<Step, { do: "wait" }>): Promise<boolean> {
  const { thread, parts, lease } = drive;
  const left = drive.draining
    ? nextStep(thread, {
        now: storeNow(drive),
        busy: new Set(),
        draining: false,
        showAfterMs: undefined,
        machines: machinesOf(drive),
      })
    : waiting;
  const now = storeNow(drive);
  const isOwed = left.do !== "wait";
  const { until } = waiting;
  const host = isOwed ? undefined : left.host;
  // Left over for another process: at once. Else not sooner than the floor, however often this wakes up too early. Stores
  // keep whole milliseconds; platforms ask for parts of them.
  const floor =
    until === undefined ? undefined : Math.ceil(Math.max(until, now + MIN_LEASE_GAP_MS));
  const dueAt = isOwed ? now : floor;
  const reply = await persist(drive, () => parts.journal.release(lease, thread, dueAt, host));
  if (reply.kind === "unseen") {
    drive.heard = reply.unseen.at(-1)?.seq ?? drive.heard;
    await absorb(drive);
    return false;
  }
  if (reply.kind === "lost") {
    lose(drive);
    return false;
  }
  // The wake-ups' timers go by this process's clock, `dueAt` by the store's.
  if (dueAt !== undefined) parts.wakeAt(drive.key, Date.now() + (dueAt - now));
  return true;
}

/**
 * Gives back a thread that is no longer what was folded of it, for somebody to begin again, once what runs has ended: until
 * then the lease is kept, or another worker would run it beside.
 */
async function startOver(drive: Drive): Promise<void> {
  const { parts, key, lease, busy } = drive;
  const { journal, log } = parts;
  log.error(
    { key },
    "the store no longer has what was read of this thread, as after a failover or a restored backup; it is read again",
  );
  const renewals = keepLease(drive);
  await Promise.all([...busy.values()].map(({ ended }) => ended));
  clearInterval(renewals);
  const last = (await journal.read(key)).at(-1)?.seq ?? 0;
  const reply = await journal.release(lease, last, storeNow(drive));
  if (reply.kind === "ok") parts.wakeAt(key, 0);
}

/** The store was away and is back: nothing was done meanwhile, and people are told. */
async function sayBack(drive: Drive, awayMs: number): Promise<void> {
  drive.awayMs = undefined;
  const seconds = Math.round(awayMs / 1_000);
  await append(drive, [
    {
      id: `back:${drive.thread.last}`,
      kind: "notice",
      text: `The store did not answer for ${seconds} s; nothing was done meanwhile. It is back.`,
    },
  ]);
}

/** A newer program wrote here: nothing is decided, and somebody newer may take it. */
async function leaveAlone(drive: Drive): Promise<void> {
  const { journal, log } = drive.parts;
  log.error(
    { key: drive.key, entry: drive.thread.newer?.written },
    "a newer version wrote this thread; leaving it alone",
  );
  let entries = await persist(drive, () => journal.read(drive.key));
  for (;;) {
    const last = entries.at(-1)?.seq ?? 0;
    const dueAt = storeNow(drive) + NEWER_RETRY_MS;
    const reply = await persist(drive, () => journal.release(drive.lease, last, dueAt));
    if (reply.kind !== "unseen") return;
    entries = reply.unseen;
  }
}
