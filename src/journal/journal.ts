import type { AppendKind, ArtifactRef, Draft, PostKind, StoredEntry } from "../core/entry.ts";
import type { HostBeat } from "../core/host-beat.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { Snapshot } from "./snapshot.ts";

/**
 * How far somebody has folded a journal: the last entry's number and head, as a thread has them. A mere number says
 * nothing of what those entries were.
 */
export type Position = number | { readonly last: number; readonly head: string | undefined };

/** A position at one moment; a thread's moves on. */
export interface Known {
  readonly last: number;
  /** Of entry number `last`; null: it has none. Undefined: nobody knows. */
  readonly head: string | null | undefined;
}

export function knownOf(after: Position): Known {
  if (typeof after === "number") return { last: after, head: undefined };
  return { last: after.last, head: after.last === 0 ? undefined : (after.head ?? null) };
}

/** The right to append. `token` is stored beside the journal; whoever takes the lease replaces it for ever. */
export interface Lease {
  readonly key: JournalKey;
  readonly token: string;
  readonly ttlMs: number;
}

export interface Granted {
  readonly lease: Lease;
  /** How often it was taken without being released since, this time included. */
  readonly attempts: number;
  /** The number of the last entry: a hint. */
  readonly last: number;
  /** The store's clock, ms since 1970. */
  readonly now: number;
}

export type AppendReply =
  /** Written, or written before: `unseen` is everything after `after`, the new entries included. */
  | { kind: "ok"; unseen: StoredEntry[]; now: number }
  /** A decision was not written: `unseen` is what it was taken without. */
  | { kind: "unseen"; unseen: StoredEntry[]; now: number }
  /** The deadline has passed on the store's clock. */
  | { kind: "late"; now: number }
  /** Another worker has taken the lease. */
  | { kind: "fenced" }
  /** What was folded up to `after` is no longer what is stored there: forget it and read it again. */
  | { kind: "lost" };

export interface JournalSummary {
  key: JournalKey;
  last: number;
  /** Of entry number `last`; undefined: it has none. */
  head: string | undefined;
  lastAt: number;
  /**
   * When it last got an entry, as lists are ordered: ms since 1970 that never run backwards, also where the store's clock is
   * put back.
   */
  changed: number;
  dueAt: number | undefined;
  /** A worker holds its lease and the lease has not run out. */
  leased: boolean;
  /** The store's clock when it was asked, ms since 1970. */
  now: number;
  /** Of `owed` alone: what was left for lists with the last release; undefined where anything was written since. */
  listed?: string | undefined;
}

/** Journals in the order in which they were last written to, up to some mark. */
export interface Changes {
  readonly changed: JournalSummary[];
  /** Go on from here; kept as text. */
  readonly mark: string;
  /** There were more. */
  readonly more: boolean;
  /** The store was set back to before the mark that was given, or that was no mark of its: these begin with the first. */
  readonly restarted: boolean;
}

/** A part of a counter that is set aside until it is known what was used. */
export interface Reservation {
  readonly id: string;
  readonly counter: string;
  readonly amount: number;
}

export interface Stoppable {
  stop(): Promise<void> | void;
}

/**
 * One append-only journal per key. Every verb is one transaction. When it returns its work is kept by the process: the death of
 * this one loses nothing. What the machine's death and a failover lose ends with the last `flush`: what was written since, in
 * whatever journal, goes from the newest back, and nothing stays without all that was written before it. Times are the store's clock.
 * All verbs throw BotError STORE_UNAVAILABLE when the store has said nothing for 2 s (nothing was written, or the same
 * call may be repeated), STORE_FULL when the disk refuses, ENTRY_INVALID when a stored entry does not fit its kind, and
 * JOURNAL_ALTERED where the seal shows that one is not what was written.
 */
export interface Journal {
  /**
   * Entries after `after` (0: all), in order. An unknown journal is empty.
   * @throws BotError JOURNAL_LOST when what is stored up to `after` is not what was folded, JOURNAL_ALTERED when what
   * comes after it is not what was written
   */
  read(key: JournalKey, after?: Position): Promise<StoredEntry[]>;
  /** Whether it has an entry. Costs the same however long the journal is. */
  has(key: JournalKey): Promise<boolean>;
  /**
   * The outside world speaks. The same id again returns the first entry and writes nothing. Unless leased, the journal is
   * due from now on if the entry asks for work (`asksForWork`), and crashes that its earlier work had are forgotten.
   */
  post(
    key: JournalKey,
    entry: Draft<PostKind>,
  ): Promise<{ entry: StoredEntry; duplicate: boolean }>;
  /** Takes the lease for `ttlMs`, or returns undefined at once when another worker has it and its end has not passed. */
  lease(key: JournalKey, ttlMs: number): Promise<Granted | undefined>;
  /** Also past the lease's end, as long as nobody took it. `last` is a hint that there is more to read. */
  renew(lease: Lease): Promise<{ kind: "ok"; last: number; now: number } | { kind: "fenced" }>;
  /**
   * Writes facts or decisions, never both (see `isFact`). Checked in this order: the token; that `after` is what was folded;
   * ids already written; `before`
   * on the store's clock; for decisions, and with `ifLast` for facts too, that `after` is the last entry. The lease's end is not
   * looked at.
   */
  append(
    lease: Lease,
    after: Position,
    entries: readonly Draft<AppendKind>[],
    options?: { before?: number; ifLast?: boolean },
  ): Promise<AppendReply>;
  /**
   * Forgets the token and says when the journal is next due, in whole ms; refused while there are entries after `after`. With `host` it
   * is due at once for that host's processes, and for all others from `dueAt`, from the next post, or once that host is gone.
   * `listed`: what lists of owed journals tell of it without reading it, a KB or two; a cache, where `after` has its
   * head and for as long as nothing is written there.
   */
  release(
    lease: Lease,
    after: Position,
    dueAt?: number,
    host?: string,
    listed?: string,
  ): Promise<
    { kind: "ok" } | { kind: "unseen"; unseen: StoredEntry[] } | { kind: "fenced" | "lost" }
  >;
  /**
   * The barrier: returns `ok` when everything so far, whoever wrote it and in whichever journal, is flushed to disk and, where
   * replicas are expected or connected, with them. Those who wait at the same time share one flush; where nothing was written since the
   * last one there is none. `lost`: what the caller has folded or posted up to `after` is not stored there any more, so nothing
   * may rest on it. It is needed before an acknowledgement, before a write's first byte, before anything is shown, and before who
   * knows a write's outcome forgets it (test/protocol/README.md).
   */
  flush(key: JournalKey, after: Position): Promise<"ok" | "lost">;
  /** The same, of what is set aside and not settled: a counter has no head. */
  flushReservation(reservation: Reservation): Promise<"ok" | "lost">;
  /** What was kept of it last; undefined where that is of another version, or not of what is stored. */
  snapshot(key: JournalKey, version: string): Promise<Snapshot | undefined>;
  /**
   * Keeps a snapshot in place of the one before, unless the journal does not end with its entry. It goes with the next `edited` or
   * `removed` that is posted, and nobody has to flush it.
   */
  keepSnapshot(key: JournalKey, snapshot: Snapshot): Promise<void>;
  /** Calls `onChange` with the last entry's number within a second of any write to the journal, by whichever process. */
  watch(key: JournalKey, onChange: (last: number) => void): Stoppable;
  /**
   * Journals on which work is owed now: due and unleased, or leased past the lease's end. One that was released for a host
   * is among them for `host` alone, and for everybody once that host is gone.
   */
  due(host?: string): AsyncIterable<JournalKey>;
  /** A process of that host is at work here. */
  beat(host: string): Promise<void>;
  /** Hosts that have beaten, by name. One that is not among them is gone. */
  hosts(): Promise<HostBeat[]>;
  /** Undefined: nothing was ever written there. One look-up, however many journals there are. */
  summary(key: JournalKey): Promise<JournalSummary | undefined>;
  /**
   * Newest first, read in pages as they are asked for; `prefix` limits to keys that begin with it, `since` to what has
   * `changed` from then on. What is written to meanwhile may come twice; nothing is left out.
   */
  list(filter?: { prefix?: string; since?: number }): AsyncIterable<JournalSummary>;
  /** As `list`, of journals that owe something at some time, now, or on a host: the first to be due first. */
  owed(filter?: { prefix?: string }): AsyncIterable<JournalSummary>;
  /**
   * A page of a transport's journals that were written to since the mark, the oldest change first; without one from the
   * beginning. What was changed in the mark's own moment may come again; nothing is left out, also where the store's clock is
   * put back.
   */
  changes(transport: string, mark?: string): Promise<Changes>;
  /** @throws BotError ARTIFACT_TOO_LARGE above `MAX_ARTIFACT_BYTES` */
  putArtifact(key: JournalKey, bytes: Uint8Array): Promise<ArtifactRef>;
  /** @throws BotError ARTIFACT_UNKNOWN; JOURNAL_ALTERED when the whole of it is not what was put there */
  readArtifact(
    key: JournalKey,
    id: string,
    range?: { start: number; end: number },
  ): Promise<Uint8Array>;
  /**
   * Sets `amount` of a counter aside if that, what others have set aside and what was used stay within `limit` together,
   * else returns undefined: however many processes ask at once. Whole numbers from 0. A counter begins at 0 with its
   * first use and is forgotten when nobody has used it for `MAX_IDLE_MS`; nothing else resets it, so the name of a daily
   * one holds the day. What is never settled, because of a crash or a lost reply, stays used.
   */
  reserve(counter: string, amount: number, limit: number): Promise<Reservation | undefined>;
  /** What of a counter was used or is set aside; 0 of one that nobody has used. */
  used(counter: string): Promise<number>;
  /**
   * Replaces what was set aside by what was really used; that may be more, also beyond the limit, and 0 gives all of it
   * back. A second time changes nothing, whatever it says.
   */
  commitReservation(reservation: Reservation, actual: number): Promise<void>;
  /** What it takes of the disk or of the server's memory, and what is left there; undefined: it has no limit, or nobody knows it. */
  size(): Promise<{ bytes: number; left: number | undefined }>;
  /** What is damaged in the store, or undefined. Reads all of it. */
  check(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** A journal for who only looks. */
export type JournalReader = Pick<
  Journal,
  | "read"
  | "has"
  | "summary"
  | "list"
  | "owed"
  | "changes"
  | "readArtifact"
  | "hosts"
  | "check"
  | "close"
>;

/** Journals that are listed at once. */
export const PAGE = 64;
/** How long before it is written an entry may be dated: with a busy machine and a busy store a request takes seconds. */
export const MAX_DATED_BACK_MS = 10_000;

/** 40 days, in ms: longer than any budget runs. */
export const MAX_IDLE_MS = 40 * 86_400_000;

/** 8 MiB: a long log in full, and little enough to hold in memory a few times over. */
export const MAX_ARTIFACT_BYTES = 22 * 1024 * 1024;
