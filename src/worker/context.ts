import { setImmediate as turnOfLoop } from "node:timers/promises";
import type { Logger } from "pino";
import type { Adapter, Progress, View } from "../adapters/adapter.ts";
import type { RunParts } from "../thread/run.ts";
import { emptyTranscript, foldTranscript, type Transcript } from "../agent/transcript.ts";
import type { AccessPolicy } from "../approvals/access.ts";
import type { Heard } from "../approvals/heard.ts";
import type { ApprovalPolicy } from "../approvals/policy.ts";
import type { AppendKind, Draft } from "../core/entry.ts";
import type { Encoder } from "../security/encoder.ts";
import { BotError, isBotError } from "../core/errors.ts";
import { type JournalKey, transportOf, tryJournalKey } from "../core/journal-key.ts";
import { fold } from "../thread/fold.ts";
import { emptyThread, MAIN_VIEW, type Thread } from "../thread/state.ts";
import type { Granted, Journal, Lease } from "../journal/journal.ts";
import type { StoredEntry } from "../core/entry.ts";
import type { HostBeat } from "../core/host-beat.ts";
import type { Model } from "../models/model.ts";
import type { Dispatcher } from "../tools/dispatch.ts";
import { type WakeSignal, createWakeSignal } from "./wake-signal.ts";

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

/** An absence that people are told of when it is over. */
const NOTABLE_ABSENCE_MS = 2_000;
/** When to try again what the platform refused without saying when. */
const RETRY_MS = 5_000;
/** How long a fenced worker tries to post an outcome that only it knows. */
const LATE_WORD_MS = 60_000;

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

/** The store's clock now, ms since 1970. */
export function storeNow({ heardNow }: ThreadContext): number {
  return heardNow.store + Math.floor(performance.now() - heardNow.at);
}

function noteClock(ctx: ThreadContext, store: number): void {
  ctx.heardNow = { store, at: performance.now() };
}

/** The journal's last entry is said to be number `last`; a hint that there is something to read. */
export function noteNewest(ctx: ThreadContext, last: number): void {
  ctx.newestHeard = Math.max(ctx.newestHeard, last);
  ctx.mayBeSetBack ||= last < ctx.thread.last;
  ctx.wakeSignal.notify();
}

/** The view of that name, as it is now. @throws BotError NOT_AVAILABLE when this process does not show it */
export function viewOf({ parts, adapter, key }: ThreadContext, name: string = MAIN_VIEW): View {
  const shown = name === MAIN_VIEW ? key : tryJournalKey(name);
  const from =
    name === MAIN_VIEW || shown === undefined ? adapter : parts.adapterOf(transportOf(shown));
  const view = shown === undefined ? undefined : from?.view(shown);
  if (view !== undefined) return view;
  throw new BotError("NOT_AVAILABLE", `${name} of ${key} is not shown by this process.`);
}

/**
 * Tells the view what is being worked on; disposable, so whatever goes wrong with it goes no further. Not once the lease may
 * be another worker's, whose answer may stand there by now.
 */
export function progress(ctx: ThreadContext, run: string, update: Progress): void {
  if (ctx.fenced || performance.now() >= ctx.leaseEndsAt) return;
  try {
    const begun = ctx.thread.runs.get(run)?.progressMessages.get(MAIN_VIEW);
    viewOf(ctx).progress(update, begun?.ref);
  } catch (error) {
    ctx.parts.log.debug({ err: error, key: ctx.key }, "progress could not be shown");
  }
}

/** Leaves work alone for as long as the platform asks, else 5 s; at most until `latest` on the store's clock. */
export function putOff(ctx: ThreadContext, key: string, error: unknown, latest = Infinity): void {
  const retryMs = (isBotError(error) ? error.retryAfterMs : undefined) ?? RETRY_MS;
  ctx.deferred.set(key, Math.min(storeNow(ctx) + retryMs, latest));
}

/** Reads what was not seen yet. */
export async function catchUp(ctx: ThreadContext): Promise<void> {
  const { journal } = ctx.parts;
  ctx.mayBeSetBack = false;
  try {
    foldIn(ctx, await retryUntilStored(ctx, () => journal.read(ctx.key, ctx.thread)));
  } catch (error) {
    if (!isBotError(error, "JOURNAL_LOST")) throw error;
    markLost(ctx);
  }
}

/** The store was set back: what was folded is of no use to anyone, and nothing may be decided from it. */
export function markLost(ctx: ThreadContext): void {
  ctx.lost = true;
  ctx.fenced = true;
}

function foldIn(ctx: ThreadContext, unseen: StoredEntry[]): void {
  const { runs } = fold(ctx.thread, unseen);
  if (ctx.transcript !== undefined) follow(ctx, ctx.transcript, unseen);
  abortWork(ctx, ({ run }) => run !== undefined && runs.get(run)?.stopped === true);
}

/** Brings the transcript up to where the fold is, never further: both are of the same moment. */
function follow(
  { thread }: ThreadContext,
  transcript: Transcript,
  entries: readonly StoredEntry[],
): void {
  for (const entry of entries) {
    if (entry.kind !== "newer" && entry.seq <= thread.last) foldTranscript(transcript, entry);
  }
}

/** The thread as its model is told it: read whole once, then kept up with the fold. */
export async function transcriptOf(ctx: ThreadContext): Promise<Transcript> {
  if (ctx.transcript !== undefined) return ctx.transcript;
  const transcript = emptyTranscript();
  // The fold may get ahead while the entries are read.
  while (transcript.last < ctx.thread.last) {
    const { last } = transcript;
    follow(
      ctx,
      transcript,
      await retryUntilStored(ctx, () => ctx.parts.journal.read(ctx.key, last)),
    );
  }
  ctx.transcript = transcript;
  return transcript;
}

/** Ends work in progress early, except what is to be kept. */
export function abortWork(ctx: ThreadContext, which: (work: Work) => boolean): void {
  for (const work of ctx.busy.values()) if (!work.kept && which(work)) work.controller.abort();
}

/**
 * Appends, however long the store is away; the entries' ids make asking again harmless. What comes back is folded in.
 * `unseen`: a decision was refused, so decide again.
 * @throws BotError STORE_UNAVAILABLE, STORE_FULL once this worker has given up or is over
 */
export async function append(
  ctx: ThreadContext,
  drafts: readonly Draft<AppendKind>[],
  options?: { before?: number },
): Promise<"ok" | "unseen" | "late" | "fenced"> {
  const { journal } = ctx.parts;
  const reply = await retryUntilStored(ctx, () =>
    journal.append(ctx.lease, ctx.thread, drafts, options),
  );
  if (reply.kind === "fenced" || reply.kind === "lost") {
    if (reply.kind === "lost") markLost(ctx);
    ctx.fenced = true;
    return "fenced";
  }
  noteClock(ctx, reply.now);
  if (reply.kind !== "late") foldIn(ctx, reply.unseen);
  if (reply.kind === "ok") {
    // One that was there before may have been shown by whoever wrote it.
    const written = new Set(reply.unseen.map(({ id }) => id));
    for (const draft of drafts) {
      if (SHOWN.has(draft.kind) && written.has(draft.id)) ctx.wrote.add(draft.id);
      note(ctx, draft);
    }
  }
  return reply.kind;
}

/** Kinds that views show in a message of their own. */
const SHOWN: ReadonlySet<AppendKind> = new Set([
  "run_started",
  "run_ended",
  "notice",
  "action_proposed",
]);

/** The log's lines: a run's beginning and end, and in between each entry that was written. */
function note({ parts, key }: ThreadContext, draft: Draft<AppendKind>): void {
  const { id, kind } = draft;
  if (kind === "run_started") parts.log.info({ key, run: draft.run }, "run started");
  else if (kind === "run_ended") {
    parts.log.info({ key, run: draft.run, status: draft.status }, "run ended");
  } else parts.log.debug({ key, id }, kind);
}

/**
 * Appends what `make` makes of the fold, again after every refusal, until it is written or no longer to be said. Gives up
 * on decisions where a newer program has written.
 */
export async function appendDecision(
  ctx: ThreadContext,
  make: () => readonly Draft<AppendKind>[] | undefined,
): Promise<void> {
  for (;;) {
    const drafts = make();
    if (drafts === undefined || (await append(ctx, drafts)) !== "unseen") return;
    if (ctx.thread.newer !== undefined) return;
  }
}

/** Repeats a request while the store is away. No store, no acts: everything waits here. */
export async function retryUntilStored<T>(
  ctx: ThreadContext,
  request: () => Promise<T>,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      const reply = await request();
      const awayMs = ctx.awaySince === undefined ? 0 : performance.now() - ctx.awaySince;
      ctx.awaySince = undefined;
      if (awayMs >= NOTABLE_ABSENCE_MS) ctx.awayMs = awayMs;
      // The embedded store answers without giving up the loop: a long row of appends would hold it throughout.
      await turnOfLoop();
      return reply;
    } catch (error) {
      const isAway = isBotError(error, "STORE_UNAVAILABLE", "STORE_FULL");
      if (!isAway || ctx.over || ctx.abandoned) throw error;
      ctx.awaySince ??= performance.now();
      if (tries === 0) {
        ctx.parts.log.warn({ err: error, key: ctx.key }, "the store is away; waiting");
      }
      await sleep(backoffMs(tries));
    }
  }
}

/** Posts what only this worker knows, though it no longer holds the journal. */
export async function postLate(ctx: ThreadContext, draft: Draft<"signal">): Promise<void> {
  const { journal, log } = ctx.parts;
  const until = performance.now() + LATE_WORD_MS;
  for (let tries = 0; ; tries++) {
    try {
      await journal.post(ctx.key, draft);
      return;
    } catch (error) {
      if (performance.now() > until) {
        log.error(
          { err: error, key: ctx.key, call: draft.call, outcome: draft.outcome },
          "lost a late word",
        );
        return;
      }
      await sleep(backoffMs(tries));
    }
  }
}

/**
 * Begins work that ends in something to write down: what it returns is carried out by the loop or, when that is over, at
 * once. `work` answers for its own failures; one that it throws ends the drive, and its journal is taken up again once
 * the lease has run out.
 */
export function runInBackground(
  ctx: ThreadContext,
  { key, run, kept = false }: { key: string; run?: string; kept?: boolean },
  work: (signal: AbortSignal) => Promise<() => Promise<void>>,
): void {
  const controller = new AbortController();
  const finish = async () => {
    const [ended] = await Promise.allSettled([work(controller.signal)]);
    const conclusion = async () => {
      ctx.busy.delete(key);
      if (ended.status === "rejected") throw ended.reason;
      await ended.value();
    };
    if (ctx.over) await conclusion();
    else {
      ctx.ready.push(conclusion);
      ctx.wakeSignal.notify();
    }
  };
  const ended = finish().catch((error: unknown) => {
    ctx.parts.log.error({ err: error, key: ctx.key }, "a late outcome could not be written");
  });
  ctx.busy.set(key, { controller, run, kept, ended });
}

/** Waits until earlier writes on the resource are over; what is returned lets the next one go. */
export async function acquireResource(
  { writes }: ThreadContext,
  resource: string,
): Promise<() => void> {
  const earlier = writes.get(resource);
  const { promise, resolve } = Promise.withResolvers<void>();
  writes.set(resource, promise);
  await earlier;
  return () => {
    if (writes.get(resource) === promise) writes.delete(resource);
    resolve();
  };
}

/** Makes sure the lease has not run out by this worker's own clock. False when another worker has it. */
export async function ensureLive(ctx: ThreadContext): Promise<boolean> {
  if (ctx.fenced) return false;
  if (performance.now() < ctx.leaseEndsAt) return true;
  await retryUntilStored(ctx, () => renew(ctx));
  return !ctx.fenced;
}

export async function renew(ctx: ThreadContext): Promise<void> {
  const askedAt = performance.now();
  const reply = await ctx.parts.journal.renew(ctx.lease);
  if (reply.kind === "fenced") {
    ctx.fenced = true;
    ctx.wakeSignal.notify();
    return;
  }
  ctx.leaseEndsAt = askedAt + ctx.lease.ttlMs;
  noteClock(ctx, reply.now);
  noteNewest(ctx, reply.last);
}

/** From 50 ms doubling to a second: a store that blinks is soon asked again, one that is down not too often. */
function backoffMs(tries: number): number {
  return Math.min(1_000, 50 * 2 ** tries);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
