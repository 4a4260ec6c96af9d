import type { Logger } from "pino";
import type { Adapter, View } from "../adapters/adapter.ts";
import type { RunParts } from "../agent/run.ts";
import type { ApprovalPolicy } from "../approvals/policy.ts";
import type { AppendKind, Draft } from "../core/entry.ts";
import { isBotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { emptyThread, fold, type Thread } from "../journal/fold.ts";
import type { Granted, Journal, Lease } from "../journal/journal.ts";
import type { Dispatcher } from "../tools/dispatch.ts";
import { type Bell, createBell } from "./bell.ts";
import type { Encode } from "./outbox.ts";

/** What a worker is made of; `main.ts` joins it. */
export interface WorkerParts {
  journal: Journal;
  dispatcher: Dispatcher;
  policy: ApprovalPolicy;
  run: RunParts;
  encode: Encode;
  log: Logger;
  /** Has the journal looked at again at that time, ms since 1970. */
  wakeAt(key: JournalKey, at: number): void;
  adapterOf(transport: string): Adapter | undefined;
  /** How long a lease lives unless renewed, which happens every third of it. Default 6 s. */
  leaseMs: number;
}

/** One journal in one worker's hands: its lease, its fold, and the work in progress. */
export interface Drive {
  readonly parts: WorkerParts;
  readonly key: JournalKey;
  readonly adapter: Adapter;
  readonly view: View;
  readonly lease: Lease;
  readonly thread: Thread;
  readonly bell: Bell;
  /** Work in progress, by step key; aborting ends it early. */
  readonly busy: Map<string, AbortController>;
  /** Finished work whose outcome the loop has yet to write down, in order. */
  readonly ready: (() => Promise<void>)[];
  /** Views to leave alone until then, because the platform refused; store's clock. */
  readonly deferred: Map<string, number>;
  /** The newest entry that was heard of; a hint that there is more to read. */
  heard: number;
  /** Another worker has the lease. */
  fenced: boolean;
  draining: boolean;
  /** How often the lease was taken without a release: from the third time on, its work has crashed twice. */
  readonly attempts: number;
  /** Nothing is driven any more; late outcomes are posted. */
  over: boolean;
  /** This worker's own monotonic clock at which the lease ends, unless renewed. */
  leaseEndsAt: number;
  /** The store's clock, as last heard, with the monotonic time of hearing it. */
  heardNow: { store: number; at: number };
}

export function createDrive(
  parts: WorkerParts,
  adapter: Adapter,
  view: View,
  granted: Granted,
  askedAt: number,
): Drive {
  const { lease, attempts, now } = granted;
  return {
    parts,
    key: lease.key,
    adapter,
    view,
    lease,
    thread: emptyThread(),
    bell: createBell(),
    busy: new Map(),
    ready: [],
    deferred: new Map(),
    heard: 0,
    fenced: false,
    draining: false,
    attempts,
    over: false,
    leaseEndsAt: askedAt + lease.ttlMs,
    heardNow: { store: now, at: performance.now() },
  };
}

/** The store's clock now, ms since 1970. */
export function storeNow({ heardNow }: Drive): number {
  return heardNow.store + Math.floor(performance.now() - heardNow.at);
}

/** Reads what was not seen yet. */
export async function absorb(drive: Drive): Promise<void> {
  const { journal } = drive.parts;
  foldIn(drive, await persist(drive, () => journal.read(drive.key, drive.thread.last)));
}

function foldIn(drive: Drive, unseen: Awaited<ReturnType<Journal["read"]>>): void {
  fold(drive.thread, unseen);
  for (const run of drive.thread.runs.values()) {
    if (!run.stopped) continue;
    for (const call of run.calls.values()) {
      const effect = call.started?.effect ?? "read";
      // A write that runs is awaited: stopping it half-way would leave its outcome unknown.
      if (effect === "read") drive.busy.get(`call:${call.call}`)?.abort();
    }
  }
}

/**
 * Appends, whatever it takes: a store that does not answer is asked again, which the entries' ids make harmless. What
 * comes back is folded in. `unseen`: a decision was refused, so decide again.
 */
export async function append(
  drive: Drive,
  drafts: readonly Draft<AppendKind>[],
  options?: { before?: number },
): Promise<"ok" | "unseen" | "late" | "fenced"> {
  const { journal } = drive.parts;
  const reply = await persist(drive, () =>
    journal.append(drive.lease, drive.thread.last, drafts, options),
  );
  if (reply.kind === "fenced") {
    drive.fenced = true;
    return "fenced";
  }
  drive.heardNow = { store: reply.now, at: performance.now() };
  if (reply.kind !== "late") foldIn(drive, reply.unseen);
  return reply.kind;
}

/** Appends what `decide` makes of the fold, again after every refusal, until it is written or no longer to be said. */
export async function decide(
  drive: Drive,
  make: () => readonly Draft<AppendKind>[] | undefined,
): Promise<void> {
  for (;;) {
    const drafts = make();
    if (drafts === undefined || (await append(drive, drafts)) !== "unseen") return;
  }
}

/** Repeats a request while the store is away. No store, no acts: everything waits here. */
export async function persist<T>(drive: Drive, request: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await request();
    } catch (error) {
      if (!isBotError(error, "STORE_UNAVAILABLE", "STORE_FULL") || drive.over) throw error;
      if (tries === 0)
        drive.parts.log.warn({ err: error, key: drive.key }, "the store is away; waiting");
      await new Promise((resolve) => setTimeout(resolve, Math.min(1_000, 50 * 2 ** tries)));
    }
  }
}

/** Begins work that ends in something to write down. What it returns is carried out by the loop, or at once when that is over. */
export function begin(
  drive: Drive,
  key: string,
  work: (signal: AbortSignal) => Promise<() => Promise<void>>,
): void {
  const controller = new AbortController();
  drive.busy.set(key, controller);
  const finish = async () => {
    let conclude: () => Promise<void>;
    try {
      conclude = await work(controller.signal);
    } catch (error) {
      conclude = () => Promise.reject(error);
    }
    const conclusion = async () => {
      drive.busy.delete(key);
      await conclude();
    };
    if (drive.over) await conclusion();
    else {
      drive.ready.push(conclusion);
      drive.bell.ring();
    }
  };
  finish().catch((error: unknown) => {
    drive.parts.log.error({ err: error, key: drive.key }, "a late outcome could not be written");
  });
}

/** Makes sure the lease has not run out by this worker's own clock. False when another worker has it. */
export async function ensureLive(drive: Drive): Promise<boolean> {
  if (performance.now() < drive.leaseEndsAt) return true;
  await persist(drive, () => renew(drive));
  return !drive.fenced;
}

export async function renew(drive: Drive): Promise<void> {
  const askedAt = performance.now();
  const reply = await drive.parts.journal.renew(drive.lease);
  if (reply.kind === "fenced") drive.fenced = true;
  else {
    drive.leaseEndsAt = askedAt + drive.lease.ttlMs;
    drive.heard = Math.max(drive.heard, reply.last);
  }
  drive.bell.ring();
}
