import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import {
  type AppendKind,
  asksForWork,
  type Draft,
  type Entry,
  type PostKind,
  type StoredEntry,
} from "../../core/entry.ts";
import { encodeDraft } from "../../core/entry-codec.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { Chain } from "../decode.ts";
import { areFacts, decodeRow, type SealedRow } from "../entries.ts";
import type { AppendReply, Granted, Journal, Known, Lease } from "../journal.ts";
import {
  absentFrom,
  altered,
  checkChain,
  checkEnd,
  checkWritten,
  followed,
  lostEntries,
  sealOf,
} from "../seal.ts";
import type { Watchers } from "../watchers.ts";
import type { createCounters } from "./counters.ts";
import type { JournalRow, prepareReads, Statements } from "./statements.ts";

/** The journal's verbs, each within a transaction of the caller's. */

/** One open file. */
export interface Reading {
  db: DatabaseSync;
  path: string;
  sql: Pick<Statements, keyof ReturnType<typeof prepareReads>>;
  now: () => number;
}

/** One that is written to, and what this process keeps beside it. */
export interface Store extends Reading {
  sql: Statements;
  counters: ReturnType<typeof createCounters>;
  watchers: Watchers;
}

export function rowOf({ sql }: Reading, key: JournalKey): JournalRow | undefined {
  return sql.row.get(key) as JournalRow | undefined;
}

/** The journal's row, which is made for the first entry, or for a file that comes before it. */
export function openRow({ sql, now }: Store, key: JournalKey): JournalRow {
  return (sql.row.get(key) ?? sql.create.get(key, now())) as unknown as JournalRow;
}

/** The store's clock for this journal's entries: it never runs backwards, unlike the one that leases go by. */
function clockOf({ now }: Store, row: JournalRow): number {
  return Math.max(now(), row.last_at);
}

/** The journal's row when `held` still holds it. */
function heldBy(store: Store, held: Lease): JournalRow | undefined {
  const row = rowOf(store, held.key);
  return row !== undefined && row.token === held.token ? row : undefined;
}

/** The head of entry number `seq`, or null where it has none. */
function headAt({ sql }: Reading, row: JournalRow, seq: number): string | null {
  if (seq === row.last) return row.head;
  const head = sql.headAt.get(row.id, seq)?.["head"];
  return typeof head === "string" ? head : null;
}

/** Whether what was folded up to there is what is stored. */
function isThere(store: Reading, row: JournalRow, { last, head }: Known): boolean {
  return last <= row.last && (head === undefined || headAt(store, row, last) === head);
}

function chainAfter(store: Reading, row: JournalRow, last: number): Chain {
  const rows = store.sql.after.all(row.id, last) as unknown as SealedRow[];
  return { rows, after: last, previous: headAt(store, row, last), end: row };
}

function readAfter(store: Reading, row: JournalRow, last: number): StoredEntry[] {
  const { rows, ...place } = chainAfter(store, row, last);
  checkChain(row.key, rows, place);
  const head = rows.at(-1)?.head ?? place.previous;
  checkEnd(row.key, { last: last + rows.length, head }, row);
  return rows.map(decodeRow);
}

/** What follows in the journal, as it is stored: `decodeChain` checks it. Undefined: there is no such journal. */
export function read(store: Reading, key: JournalKey, known: Known): Chain | undefined {
  const row = rowOf(store, key);
  if (row === undefined && known.last === 0) return undefined;
  if (row === undefined || !isThere(store, row, known)) throw lostEntries(key);
  return chainAfter(store, row, known.last);
}

function write(store: Store, row: JournalRow, drafts: readonly Draft[]): Entry[] {
  const at = clockOf(store, row);
  let head = followed(row.key, row.last, row.head);
  const written = drafts.map((draft, i): Entry => {
    const { id, kind, version, body } = encodeDraft(draft);
    const seq = row.last + 1 + i;
    head = sealOf(head, { seq, id, at, kind, version, body });
    store.sql.insert.run(row.id, seq, id, at, kind, version, body, head);
    return { seq, at, head, ...draft };
  });
  store.sql.advance.run(row.last + drafts.length, at, head, row.id);
  return written;
}

/** Who holds the journal, and when it is next due, for which host; while it is held that is the lease's end. */
function hold(
  { sql }: Store,
  row: JournalRow,
  held: { token: string | null; dueAt: number | null; attempts: number; host?: string },
): void {
  sql.hold.run(held.token, held.dueAt, held.attempts, held.host ?? null, row.id);
}

export function post(store: Store, key: JournalKey, draft: Draft<PostKind>): Posted {
  const time = store.now();
  const row = openRow(store, key);
  const known = store.sql.byId.get(row.id, draft.id) as SealedRow | undefined;
  if (known !== undefined) {
    const after = known.seq - 1;
    if (after < 0 || after >= row.last) throw altered(key, `it has an entry ${known.seq}`);
    checkChain(key, [known], { after, previous: headAt(store, row, after) });
    return { entry: decodeRow(known), duplicate: true };
  }
  const [entry] = write(store, row, [draft]);
  if (asksForWork(draft)) {
    const dueAt = row.token === null ? time : row.due_at;
    hold(store, row, { token: row.token, dueAt, attempts: 0 });
  }
  if (entry === undefined) throw new TypeError("nothing was written");
  return { entry, duplicate: false };
}

type Posted = Awaited<ReturnType<Journal["post"]>>;

export function lease(store: Store, key: JournalKey, ttlMs: number): Granted | undefined {
  const row = rowOf(store, key);
  if (row === undefined) return undefined;
  const now = store.now();
  if (row.token !== null && row.due_at !== null && now < row.due_at) return undefined;
  const token = randomBytes(12).toString("base64url");
  const attempts = row.attempts + 1;
  hold(store, row, { token, dueAt: now + ttlMs, attempts });
  return { lease: { key, token, ttlMs }, attempts, now };
}

export function renew(store: Store, held: Lease): Awaited<ReturnType<Journal["renew"]>> {
  const row = heldBy(store, held);
  if (row === undefined) return { kind: "fenced" };
  const now = store.now();
  hold(store, row, { token: held.token, dueAt: now + held.ttlMs, attempts: row.attempts });
  return { kind: "ok", last: row.last, now };
}

export function append(
  store: Store,
  held: Lease,
  known: Known,
  drafts: readonly Draft<AppendKind>[],
  before: number | undefined,
): AppendReply {
  const facts = areFacts(drafts);
  const row = heldBy(store, held);
  if (row === undefined) return { kind: "fenced" };
  if (!isThere(store, row, known)) return { kind: "lost" };
  const { last } = known;
  const now = clockOf(store, row);
  const missing = drafts.filter(({ id }) => store.sql.byId.get(row.id, id) === undefined);
  if (missing.length > 0) {
    if (before !== undefined && now >= before) return { kind: "late", now };
    if (!facts && row.last !== last) {
      return { kind: "unseen", unseen: readAfter(store, row, last), now };
    }
    const written = write(store, row, missing);
    if (row.last === last && missing.length === drafts.length) {
      return { kind: "ok", unseen: written, now };
    }
  }
  const current = rowOf(store, held.key) ?? row;
  const unseen = readAfter(store, current, last);
  const others = absentFrom(unseen, drafts);
  if (others.length > 0) checkWritten(held.key, readAfter(store, current, 0), others);
  return { kind: "ok", unseen, now };
}

export function release(
  store: Store,
  held: Lease,
  known: Known,
  dueAt: number | undefined,
  host: string | undefined,
): Awaited<ReturnType<Journal["release"]>> {
  const row = heldBy(store, held);
  if (row === undefined) return { kind: "fenced" };
  if (!isThere(store, row, known)) return { kind: "lost" };
  if (row.last !== known.last) {
    return { kind: "unseen", unseen: readAfter(store, row, known.last) };
  }
  hold(store, row, {
    token: null,
    dueAt: dueAt ?? null,
    attempts: 0,
    ...(host !== undefined && { host }),
  });
  return { kind: "ok" };
}
