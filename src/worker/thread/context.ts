import type { Logger } from "pino";
import type { Adapter } from "../../adapters/adapter.ts";
import type { RunParts } from "../../thread/run.ts";
import type { Transcript } from "../../agent/transcript.ts";
import type { AccessPolicy } from "../../approvals/access.ts";
import type { Heard } from "../../approvals/heard.ts";
import type { ApprovalPolicy } from "../../approvals/policy.ts";
import type { Encoder } from "../../security/encoder.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import { emptyThread, type Thread } from "../../thread/state.ts";
import type { Granted, Journal, Lease } from "../../journal/journal.ts";
import type { HostBeat } from "../../core/host-beat.ts";
import type { Model } from "../../models/model.ts";
import type { Dispatcher } from "../../tools/dispatch.ts";
import { type WakeSignal, createWakeSignal } from "../wake-signal.ts";

/** What a worker is made of; `main.ts` joins it. */
export interface WorkerParts {
  journal: Journal;
  dispatcher: Dispatcher;
  policy: ApprovalPolicy;
  /** `network.allow`: hosts that the configuration knows. Default: none. */
  network?: readonly string[];
  access: AccessPolicy;
  run: RunParts;
  encoder: Encoder;
  /** A model by its id, made once. @throws BotError CONFIG_INVALID when there is no such model or no key for it */
  model(id: string): Promise<Model>;
  log: Logger;
  /** Has the journal looked at again at that time, ms since 1970. */
  wakeAt(key: JournalKey, at: number): void;
  adapterOf(transport: string): Adapter | undefined;
  /** The zone that times without one are meant in; undefined: the asker's own, else UTC. */
  timezone: string | undefined;
  /** Who is behind an account. */
  personOf(account: string): string;
  /** Processes of other machines can take up such threads too. */
  isShared(transport: string): boolean;
  /** A run that takes longer gets a message that shows its progress, a quicker one only its answer. In ms. */
  showAfterMs: number;
  /** How long one look-up of people on the platform may take, in ms. Default 10 s. */
  lookUpMs?: number;
  /** How long a lease lives unless renewed, which happens every third of it. Default 6 s. */
  leaseMs: number;
}

/** Work in progress that ends in something to write down. */
export interface Work {
  readonly controller: AbortController;
  /** The run whose Stop cuts it. */
  readonly run: string | undefined;
  /** Never cut half-way but at the very end of a shutdown: a write, whose outcome would be unknown, or a delivery. */
  readonly kept: boolean;
  /** Resolves when it has ended and, after the drive is over, what it knew is posted. */
  readonly ended: Promise<void>;
}

/** One journal in one worker's hands: its lease, its fold, and the work in progress. */
export interface ThreadContext {
  readonly parts: WorkerParts;
  readonly key: JournalKey;
  readonly adapter: Adapter;
  readonly lease: Lease;
  readonly thread: Thread;
  readonly wakeSignal: WakeSignal;
  /** Work in progress, by step key. */
  readonly busy: Map<string, Work>;
  /** Finished work whose outcome the loop has yet to write down, in order. */
  readonly ready: (() => Promise<void>)[];
  /** The thread as its model is told it, once a model was asked. */
  transcript: Transcript | undefined;
  /** What came into the thread and from whom, once that mattered. */
  heardFrom: Heard | undefined;
  /** Per resource, the end of the writes on it so far. */
  readonly writes: Map<string, Promise<void>>;
  /** Work to leave alone until then, by step key, because the platform refused or did not answer; store's clock. */
  readonly deferred: Map<string, number>;
  /** Ids of entries that this drive has written and that are shown. */
  readonly wrote: Set<string>;
  /** Of those, what it has tried to show: `<view> <id>`. */
  readonly tried: Set<string>;
  /** How often the lease was taken without a release: from the third time on, its work has crashed twice. */
  readonly attempts: number;
  /** The newest entry that was heard of; a hint that there is more to read. */
  newestHeard: number;
  /** Less was heard of than was folded: the store may have been set back. */
  mayBeSetBack: boolean;
  /** The machines that the store has heard of, and when it was asked, on this worker's own monotonic clock. */
  hosts: { at: number; heard: ReadonlyMap<string, HostBeat> } | undefined;
  /** Another worker has the lease. */
  fenced: boolean;
  /** The store no longer has what was folded: this ends as if another worker had the lease, and begins again. */
  lost: boolean;
  draining: boolean;
  /** The shutdown's time is up: the store is not waited for any longer. */
  abandoned: boolean;
  /** Nothing is driven any more; late outcomes are posted. */
  over: boolean;
  /** This worker's own monotonic clock at which the lease ends, unless renewed. */
  leaseEndsAt: number;
  /** The store's clock, as last heard, with the monotonic time of hearing it. */
  heardNow: { store: number; at: number };
  /** Since when the store does not answer, on the monotonic clock; then for how long it did not, until people are told. */
  awaySince: number | undefined;
  awayMs: number | undefined;
}

/** `known` is the fold of what this worker saw when it last held the journal. */
export function createContext(
  parts: WorkerParts,
  adapter: Adapter,
  { lease, attempts, now }: Granted,
  known: Thread | undefined,
  askedAt: number,
): ThreadContext {
  return {
    parts,
    key: lease.key,
    adapter,
    lease,
    thread: known ?? emptyThread(),
    wakeSignal: createWakeSignal(),
    busy: new Map(),
    ready: [],
    transcript: undefined,
    heardFrom: undefined,
    writes: new Map(),
    deferred: new Map(),
    wrote: new Set(),
    tried: new Set(),
    attempts,
    newestHeard: 0,
    mayBeSetBack: false,
    hosts: undefined,
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
