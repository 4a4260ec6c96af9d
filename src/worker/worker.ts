import type { JournalKey } from "../core/journal-key.ts";
import { transportOf } from "../core/journal-key.ts";
import {
  absorb,
  append,
  createDrive,
  type Drive,
  persist,
  renew,
  storeNow,
  type WorkerParts,
} from "./drive.ts";
import { nextStep, type Step } from "./next.ts";
import { perform } from "./steps.ts";

/** When to look again at a journal that only a newer program understands. */
const NEWER_RETRY_MS = 60_000;
/** Leases without a release after which a journal's work is taken to crash its workers: two crashes. */
const PARK_AFTER = 2;
/** Something may be due that only work in progress lets happen; it rings when it ends. */
const MIN_SLEEP_MS = 50;
/** Kept of the drain for writing down what could not be waited for. */
const LAST_WORDS_MS = 500;

export interface Worker {
  /** Takes the journal's lease, if nobody has it and its view is here, and works until nothing is owed now. */
  work(key: JournalKey): Promise<void>;
  /**
   * Ends: reads are cut and will be run again by the next start, writes are waited for up to `graceMs`, and those still
   * running are then written down as unknown.
   */
  stop(graceMs: number): Promise<void>;
}

export function createWorker(parts: WorkerParts): Worker {
  const drives = new Set<Drive>();
  let draining = false;
  return {
    async work(key) {
      const adapter = parts.adapterOf(transportOf(key));
      const view = adapter?.view(key);
      if (adapter === undefined || view === undefined || draining) return;
      const askedAt = performance.now();
      const granted = await parts.journal.lease(key, parts.leaseMs);
      if (granted === undefined) return;
      const drive = createDrive(parts, adapter, view, granted, askedAt);
      drives.add(drive);
      try {
        await hold(drive);
      } finally {
        drives.delete(drive);
      }
    },

    async stop(graceMs) {
      draining = true;
      for (const drive of drives) drain(drive);
      const until = performance.now() + Math.max(0, graceMs - LAST_WORDS_MS);
      while (drives.size > 0 && performance.now() < until) await pause(20);
      // Cut, a write's outcome is unknown; that is recorded before the lease is given back.
      for (const drive of drives) for (const controller of drive.busy.values()) controller.abort();
      const end = performance.now() + LAST_WORDS_MS;
      while (drives.size > 0 && performance.now() < end) await pause(20);
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function drain(drive: Drive): void {
  drive.draining = true;
  for (const [key, controller] of drive.busy) {
    const call = key.startsWith("call:") ? key.slice("call:".length) : undefined;
    const run =
      call === undefined ? undefined : drive.thread.runs.get(call.slice(0, call.indexOf(".")));
    const started = call === undefined ? undefined : run?.calls.get(call)?.started;
    if (started === undefined || started.effect === "read") controller.abort();
  }
  drive.bell.ring();
}

/** Drives while the lease is renewed and the journal watched. */
async function hold(drive: Drive): Promise<void> {
  const { journal, log } = drive.parts;
  const watch = journal.watch(drive.key, (last) => {
    drive.heard = Math.max(drive.heard, last);
    drive.bell.ring();
  });
  const timer = setInterval(() => {
    renew(drive).catch((error: unknown) => {
      log.warn({ err: error, key: drive.key }, "the lease could not be renewed yet");
    });
  }, drive.lease.ttlMs / 3);
  try {
    await absorb(drive);
    if (drive.thread.newer !== undefined) await leaveAlone(drive);
    else await loop(drive);
  } finally {
    drive.over = true;
    clearInterval(timer);
    await watch.stop();
    // What was begun and is no longer this worker's to decide ends here; known outcomes of writes are posted.
    for (const conclude of drive.ready.splice(0)) await conclude();
    if (drive.fenced) for (const controller of abortable(drive)) controller.abort();
  }
}

/** Reads and preparations; a write that runs goes on, and its outcome is posted. */
function* abortable(drive: Drive): Iterable<AbortController> {
  const writes = new Set<string>();
  for (const run of drive.thread.runs.values()) {
    for (const { call, started } of run.calls.values()) {
      if (started !== undefined && started.effect !== "read") writes.add(`call:${call}`);
    }
  }
  for (const [key, controller] of drive.busy) if (!writes.has(key)) yield controller;
}

async function loop(drive: Drive): Promise<void> {
  const { thread, bell } = drive;
  if (drive.attempts > PARK_AFTER && !thread.parked) await park(drive);
  while (!drive.fenced) {
    if (drive.heard > thread.last) await absorb(drive);
    const conclude = drive.ready.shift();
    if (conclude !== undefined) {
      await conclude();
      continue;
    }
    const step = stepOf(drive);
    if (step.do !== "wait") await perform(drive, step);
    else if (drive.busy.size > 0) {
      const ms = step.until === undefined ? undefined : step.until - storeNow(drive);
      await bell.rung(ms === undefined ? undefined : Math.max(ms, MIN_SLEEP_MS));
    } else if (await release(drive, step.until)) return;
  }
}

function stepOf(drive: Drive): Step {
  const now = storeNow(drive);
  for (const [key, until] of drive.deferred) if (until <= now) drive.deferred.delete(key);
  const busy = new Set([...drive.busy.keys(), ...drive.deferred.keys()]);
  const step = nextStep(drive.thread, { now, busy, draining: drive.draining });
  if (step.do !== "wait" || drive.deferred.size === 0) return step;
  return { do: "wait", until: Math.min(step.until ?? Infinity, ...drive.deferred.values()) };
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

/** Gives the lease back and says when something is next owed. False when there is more to look at first. */
async function release(drive: Drive, until: number | undefined): Promise<boolean> {
  const { thread, parts, lease } = drive;
  const left = drive.draining
    ? nextStep(thread, { now: storeNow(drive), busy: new Set(), draining: false })
    : undefined;
  const dueAt = left !== undefined && left.do !== "wait" ? storeNow(drive) : until;
  const reply = await persist(drive, () => parts.journal.release(lease, thread.last, dueAt));
  if (reply.kind === "unseen") {
    drive.heard = reply.unseen.at(-1)?.seq ?? drive.heard;
    await absorb(drive);
    return false;
  }
  if (dueAt !== undefined) parts.wakeAt(drive.key, dueAt);
  return true;
}

/** A newer program wrote here: nothing is decided, and somebody newer may take it. */
async function leaveAlone(drive: Drive): Promise<void> {
  const { journal, log } = drive.parts;
  const entries = await journal.read(drive.key);
  const { newer } = drive.thread;
  log.error(
    { key: drive.key, entry: newer?.written },
    "a newer version wrote this thread; leaving it alone",
  );
  await journal.release(drive.lease, entries.at(-1)?.seq ?? 0, storeNow(drive) + NEWER_RETRY_MS);
}
