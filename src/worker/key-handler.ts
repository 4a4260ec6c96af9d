import type { Logger } from "pino";
import type { AppendKind, Draft, Entry, NewerEntry, StoredEntry } from "../core/entry.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { Granted, Journal, Lease } from "../journal/journal.ts";
import { createTurns } from "../core/turns.ts";
import { type Publisher, SILENT } from "../events/bus.ts";
import { createWakeSignal } from "./wake-signal.ts";

export interface WorkerParts {
  journal: Journal;
  log: Logger;
  /** Hears what this process does. Default: nobody. */
  events?: Publisher;
  /** How long a lease lives unless renewed, which happens every third of it. */
  leaseMs: number;
  /** Has the journal looked at again at that time, ms since 1970. */
  wakeAt(key: JournalKey, at: number): void;
}

/** What a journal's entries come to: at least how far they were folded. */
export interface Folded {
  last: number;
  head: string | undefined;
  /** A newer program's entry, at which folding stops for good. */
  newer: NewerEntry | undefined;
}

interface Moment {
  /** The store's clock, ms since 1970. */
  readonly now: number;
  /** Work in progress or put off, by its key. */
  readonly busy: { has(key: string): boolean; keys(): Iterable<string> };
  /** Shutting down: what is begun now would be cut. */
  readonly draining: boolean;
}

/** Nothing now, or only what `host` can do; `until`: when time alone makes something due, for everybody. */
export interface Wait {
  do: "wait";
  until: number | undefined;
  host?: string;
}

export function isWait(step: { do: string } | Wait): step is Wait {
  return step.do === "wait";
}

/** A state in bytes, to be kept beside a long journal. */
export interface Snapshots<State extends Folded = Folded> {
  /** Of the bytes' form and of all that makes a state of entries. */
  readonly version: string;
  /** Undefined: it is not to be kept as it is now. */
  encode(state: State): Uint8Array | undefined;
  /** May throw. */
  decode(bytes: Uint8Array): State;
}

/**
 * One kind of journal, named by the first part of its keys: what its entries come to, what is owed next, and how that is
 * done. The worker brings the lease, the clock and the repeating; it knows no kind.
 */
export interface KeyHandler<
  Context extends JournalContext = JournalContext,
  Step extends { do: string } = { do: string },
> {
  /** False: only the process in which such a journal is open works on it. */
  readonly isShared: boolean;
  serves(key: JournalKey): boolean;
  empty(): Context["state"];
  /** Folds entries into the state, in place; the same entries always give the same. Stops for good at a newer program's. */
  fold(state: Context["state"], entries: readonly StoredEntry[]): void;
  /** About what a state takes in memory. Default: some KB. */
  bytesOf?(state: Context["state"]): number;
  /** Default: it is folded from its first entry wherever it is taken up. */
  readonly snapshots?: Snapshots<Context["state"]>;
  /** What this kind's steps need besides; it joins the worker's own context, which stays one object. Asked once per lease. */
  open(ctx: JournalContext<Context["state"]>): Omit<Context, keyof JournalContext>;
  /** These entries were folded. `ours`: ids of those that this worker wrote just now. */
  folded?(ctx: Context, entries: readonly StoredEntry[], ours: ReadonlySet<string>): void;
  /** What is owed next, from the state alone: every worker decides alike. */
  next(ctx: Context, moment: Moment): Step | Wait;
  /** What lists tell of it while it owes something (`Journal.release`). */
  listed?(ctx: Context): string | undefined;
  /** Somebody waits for what they pressed to be judged, or for a Stop to come into effect. */
  isAwaited?(state: Context["state"]): boolean;
  /** Takes a step: writes entries now, or begins work that will (`runInBackground`). */
  execute(ctx: Context, step: Step): Promise<void>;
  /** The lease is over, or this worker no longer drives. Never throws. */
  close?(ctx: Context): Promise<void>;
  /** Its work crashed its workers twice: what keeps it from being tried again for ever. */
  park(ctx: Context): Promise<void>;
  /** The store is back after it did not answer for so long. */
  storeReturned?(ctx: Context, awayMs: number): Promise<void>;
}

/** Work in progress that ends in something to write down. */
export interface Work {
  readonly controller: AbortController;
  /** What it belongs to, such as a run whose Stop cuts it. */
  readonly run: string | undefined;
  /** Never cut half-way but at the very end of a shutdown: a write, whose outcome would be unknown, or a delivery. */
  readonly kept: boolean;
  /** Resolves when it has ended and, after the lease is given up, what it knew is posted. */
  readonly ended: Promise<void>;
}

/** Up to where a journal is stored. */
export type StoredEnd = Pick<Folded, "last" | "head">;

/** Facts of its own that a worker has folded and the store does not have yet. */
export interface Behind {
  /** In order; `entry` is what the draft was folded as. */
  unsent: { draft: Draft<AppendKind>; entry: Entry }[];
  /** The last entry that the store has; undefined: it has all that is folded. */
  stored: StoredEnd | undefined;
  /** Ends when it has. */
  writing: Promise<void> | undefined;
}

/**
 * One journal in one worker's hands: its lease, its fold, and the work in progress. The worker's loop, the timer that renews
 * the lease and the handler's work all hold this one object: what one of them sets, such as `draining`, the others read.
 */
export class JournalContext<State extends Folded = Folded> {
  readonly journal: Journal;
  readonly log: Logger;
  readonly events: Publisher;
  readonly wakeAt: WorkerParts["wakeAt"];
  readonly handler: KeyHandler;
  readonly key: JournalKey;
  readonly lease: Lease;
  readonly state: State;
  /** How often the lease was taken without a release: from the third time on, its work has crashed twice. */
  readonly attempts: number;
  readonly wakeSignal = createWakeSignal();
  /** Work in progress, by step key. */
  readonly busy = new Map<string, Work>();
  /** Finished work whose outcome the loop has yet to write down, in order. */
  readonly ready: (() => Promise<void>)[] = [];
  readonly writes = createTurns<string>();
  /** Work to leave alone until then, by step key, because the platform refused or did not answer; store's clock. */
  readonly deferred = new Map<string, number>();
  /** The newest entry that was heard of; a hint that there is more to read. */
  newestHeard = 0;
  /** Less was heard of than was folded: the store may have been set back. */
  mayBeSetBack = false;
  fenced = false;
  /**
   * What was folded is not what the store has, since it was set back or somebody else wrote first: this ends as if another
   * worker had the lease, and begins again.
   */
  lost: "set back" | "overtaken" | undefined;
  readonly behind: Behind = { unsent: [], stored: undefined, writing: undefined };
  draining = false;
  /** The shutdown's time is up: the store is not waited for any longer. */
  abandoned = false;
  /** Nothing is driven any more; late outcomes are posted. */
  over = false;
  /** This worker's own monotonic clock at which the lease ends, unless renewed. */
  leaseEndsAt: number;
  /** The store's clock, as last heard, with the monotonic time of hearing it. */
  heardNow: { store: number; at: number };
  /** Since when the store does not answer, on the monotonic clock; then for how long it did not, until the handler is told. */
  awaySince: number | undefined;
  awayMs: number | undefined;
  /** When the event loop last turned, as far as is known here, on the monotonic clock. */
  turnedAt = 0;

  /** `askedAt`: when the lease was asked for, on this worker's monotonic clock. */
  constructor(
    { journal, log, events = SILENT, wakeAt }: WorkerParts,
    handler: KeyHandler,
    { lease, attempts, now }: Granted,
    state: State,
    askedAt: number,
  ) {
    this.journal = journal;
    this.log = log;
    this.events = events;
    this.wakeAt = wakeAt;
    this.handler = handler;
    this.lease = lease;
    this.state = state;
    this.attempts = attempts;
    this.key = lease.key;
    this.leaseEndsAt = askedAt + lease.ttlMs;
    this.heardNow = { store: now, at: performance.now() };
  }

  /** The store's clock now, ms since 1970. */
  now(): number {
    return this.heardNow.store + Math.floor(performance.now() - this.heardNow.at);
  }

  noteClock(store: number): void {
    this.heardNow = { store, at: performance.now() };
  }

  /** Hears that the journal's last entry is number `last`: a hint that there is something to read. */
  noteNewest(last: number): void {
    this.newestHeard = Math.max(this.newestHeard, last);
    this.mayBeSetBack ||= last < (this.behind.stored ?? this.state).last;
    this.wakeSignal.notify();
  }
}
