import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as turnOfLoop } from "node:timers/promises";
import type { encodeDraft } from "../../core/entry-codec.ts";
import { type JournalKey, transportOf } from "../../core/journal-key.ts";
import { plainId } from "../../core/stored-id.ts";
import { type Granted, type Known, type Lease, MAX_IDLE_MS, type Reservation } from "../journal.ts";
import {
  absentFrom,
  altered,
  type Chain,
  checkChain,
  checkEnd,
  checkWritten,
  followed,
  lostEntries,
  type SealedRow,
  sealOf,
} from "../seal.ts";
import { sealOfSnapshot, type Snapshot } from "../snapshot.ts";
import type { Observe } from "./connection.ts";
import type { JournalRow, Looks, Reads, Writes } from "./statements.ts";

/**
 * The journal's verbs, each within a transaction of the caller's, on rows: who asks knows what stands in them. They load
 * nothing that the store's thread has no use for.
 */

type EncodedDraft = ReturnType<typeof encodeDraft>;

/** What was written of drafts, in their order. */
export interface Written {
  /** The first one's number. */
  readonly seq: number;
  readonly at: number;
  readonly heads: readonly string[];
}

type Posted = Written | { readonly known: SealedRow };

type Appended =
  | { readonly kind: "fenced" | "lost" }
  | { readonly kind: "late"; readonly now: number }
  /** All of them, and nothing else was unseen. */
  | { readonly kind: "written"; readonly written: Written; readonly now: number }
  | { readonly kind: "ok"; readonly unseen: SealedRow[]; readonly now: number }
  | { readonly kind: "unseen"; readonly unseen: SealedRow[]; readonly now: number };

type Released =
  | { readonly kind: "ok" | "fenced" | "lost" }
  | { readonly kind: "unseen"; readonly unseen: SealedRow[] };

type Renewed = { kind: "ok"; last: number; now: number } | { kind: "fenced" };

export interface ReadableFile {
  db: DatabaseSync;
  path: string;
  sql: Reads;
  now: () => number;
}

export interface File extends ReadableFile {
  sql: Writes;
}

function rowOf({ sql }: ReadableFile, key: JournalKey): JournalRow | undefined {
  return sql.row.get(key) as JournalRow | undefined;
}

/** The number of its last entry; 0: it has none. */
export function lastOf({ sql }: ReadableFile, key: JournalKey): number {
  return Number(sql.last.get(key)?.["last"] ?? 0);
}

/** The journal's row, which is made for the first entry, or for a file that comes before it. */
function openRow({ sql, now }: File, key: JournalKey): JournalRow {
  return (sql.row.get(key) ?? sql.create.get(key, now())) as unknown as JournalRow;
}

/** The store's clock for this journal's entries: it never runs backwards, unlike the one that leases go by. */
function clockOf({ now }: File, row: JournalRow): number {
  return Math.max(now(), row.last_at);
}

function heldBy(file: File, held: Lease): JournalRow | undefined {
  const row = rowOf(file, held.key);
  return row !== undefined && row.token === held.token ? row : undefined;
}

/** The head of entry number `seq`, or null where it has none. */
function headAt({ sql }: ReadableFile, row: JournalRow, seq: number): string | null {
  if (seq === row.last) return row.head;
  const head = sql.headAt.get(row.id, seq)?.["head"];
  return typeof head === "string" ? head : null;
}

/** Whether what was folded up to there is what is stored. */
function isThere(file: ReadableFile, row: JournalRow, { last, head }: Known): boolean {
  return last <= row.last && (head === undefined || headAt(file, row, last) === head);
}

/** The same of a journal that may not be there. */
export function has(file: ReadableFile, key: JournalKey, known: Known): boolean {
  const row = rowOf(file, key);
  return row === undefined ? known.last === 0 : isThere(file, row, known);
}

function rowsAfter({ sql }: ReadableFile, row: JournalRow, last: number, limit = -1): SealedRow[] {
  return sql.after.all(row.id, last, limit) as unknown as SealedRow[];
}

/** @throws BotError JOURNAL_ALTERED when that is not what was written */
function readAfter(file: ReadableFile, row: JournalRow, last: number): SealedRow[] {
  const previous = headAt(file, row, last);
  const rows = rowsAfter(file, row, last);
  checkChain(row.key, rows, { after: last, previous });
  const head = rows.at(-1)?.head ?? previous;
  checkEnd(row.key, { last: last + rows.length, head }, row);
  return rows;
}

/** Rows that are read at once, in about a millisecond. */
const ROWS = 256;

/**
 * What follows in the journal, as it is stored: `decodeChain` checks it. A page at a time, each on a state of its own: what is
 * written meanwhile is in it. Undefined: there is no such journal.
 */
export async function read(
  file: ReadableFile,
  observe: Observe,
  key: JournalKey,
  known: Known,
): Promise<Chain | undefined> {
  const { last: after } = known;
  const rows: SealedRow[] = [];
  let previous: string | null = null;
  function readPage(): { end: JournalRow; isLast: boolean } | undefined {
    const end = rowOf(file, key);
    if (end === undefined && after === 0) return undefined;
    if (end === undefined || !isThere(file, end, known)) throw lostEntries(key);
    previous = headAt(file, end, after);
    const page = rowsAfter(file, end, after + rows.length, ROWS);
    rows.push(...page);
    return { end, isLast: page.length < ROWS };
  }
  for (;;) {
    const found = await observe(readPage);
    if (found === undefined) return undefined;
    if (found.isLast) return { rows, after, previous, end: found.end };
    await turnOfLoop();
  }
}

function write(file: File, row: JournalRow, drafts: readonly EncodedDraft[]): Written {
  const at = clockOf(file, row);
  let head = followed(row.key, row.last, row.head);
  const heads = drafts.map(({ stored: id, kind, version, body }, i) => {
    const seq = row.last + 1 + i;
    head = sealOf(head, { seq, id, at, kind, version, body });
    file.sql.insert.run(row.id, seq, id, at, kind, version, body, head);
    return head;
  });
  file.sql.advance.run(row.last + drafts.length, at, head, row.id, transportOf(row.key));
  return { seq: row.last + 1, at, heads };
}

/** Older programs kept ids as they are, and so does each that has no shorter form. */
function find({ sql }: File, row: JournalRow, { id, stored }: EncodedDraft): SealedRow | undefined {
  const found = sql.byId.all(row.id, stored, id) as unknown as SealedRow[];
  return found.find((each) => named(each).id === id);
}

const named = ({ kind, id }: SealedRow) => ({ id: plainId(kind, id) });

/** Who holds the journal, and when it is next due, for which host; while it is held that is the lease's end. */
function hold(
  { sql }: File,
  row: JournalRow,
  held: { token: string | null; dueAt: number | null; attempts: number; host?: string },
): void {
  sql.hold.run(held.token, held.dueAt, held.attempts, held.host ?? null, row.id);
}

function post(
  file: File,
  key: JournalKey,
  draft: EncodedDraft,
  { asksForWork, dropsSnapshot }: { asksForWork: boolean; dropsSnapshot: boolean },
): Posted {
  const time = file.now();
  const row = openRow(file, key);
  const known = find(file, row, draft);
  if (known !== undefined) {
    const after = known.seq - 1;
    if (after < 0 || after >= row.last) throw altered(key, `it has an entry ${known.seq}`);
    checkChain(key, [known], { after, previous: headAt(file, row, after) });
    return { known };
  }
  const written = write(file, row, [draft]);
  if (dropsSnapshot) file.sql.dropSnapshot.run(row.id);
  if (asksForWork) {
    const dueAt = row.token === null ? time : row.due_at;
    hold(file, row, { token: row.token, dueAt, attempts: 0 });
  }
  return written;
}

function lease(file: File, key: JournalKey, ttlMs: number): Granted | undefined {
  const row = rowOf(file, key);
  if (row === undefined) return undefined;
  const now = file.now();
  if (row.token !== null && row.due_at !== null && now < row.due_at) return undefined;
  const token = randomBytes(12).toString("base64url");
  const attempts = row.attempts + 1;
  hold(file, row, { token, dueAt: now + ttlMs, attempts });
  return { lease: { key, token, ttlMs }, attempts, last: row.last, now };
}

function renew(file: File, held: Lease): Renewed {
  const row = heldBy(file, held);
  if (row === undefined) return { kind: "fenced" };
  const now = file.now();
  hold(file, row, { token: held.token, dueAt: now + held.ttlMs, attempts: row.attempts });
  return { kind: "ok", last: row.last, now };
}

/** `areFacts`: or else decisions. */
function append(
  file: File,
  held: Lease,
  known: Known,
  drafts: readonly EncodedDraft[],
  areFacts: boolean,
  before: number | undefined,
): Appended {
  const row = heldBy(file, held);
  if (row === undefined) return { kind: "fenced" };
  if (!isThere(file, row, known)) return { kind: "lost" };
  const { last } = known;
  const now = clockOf(file, row);
  const missing = drafts.filter((draft) => find(file, row, draft) === undefined);
  if (missing.length > 0) {
    if (before !== undefined && now >= before) return { kind: "late", now };
    if (!areFacts && row.last !== last) {
      return { kind: "unseen", unseen: readAfter(file, row, last), now };
    }
    const written = write(file, row, missing);
    if (row.last === last && missing.length === drafts.length) {
      return { kind: "written", written, now };
    }
  }
  const current = rowOf(file, held.key) ?? row;
  const unseen = readAfter(file, current, last);
  const others = absentFrom(unseen.map(named), drafts);
  if (others.length > 0) checkWritten(held.key, readAfter(file, current, 0).map(named), others);
  return { kind: "ok", unseen, now };
}

function release(
  file: File,
  held: Lease,
  known: Known,
  dueAt: number | undefined,
  host: string | undefined,
  listed: string | undefined,
): Released {
  const row = heldBy(file, held);
  if (row === undefined) return { kind: "fenced" };
  if (!isThere(file, row, known)) return { kind: "lost" };
  if (row.last !== known.last) {
    return { kind: "unseen", unseen: readAfter(file, row, known.last) };
  }
  hold(file, row, {
    token: null,
    dueAt: dueAt ?? null,
    attempts: 0,
    ...(host !== undefined && { host }),
  });
  if (listed === undefined) file.sql.takeAway.run(row.id);
  else file.sql.leave.run(row.id, row.last, listed);
  return { kind: "ok" };
}

function putArtifact(file: File, key: JournalKey, id: string, bytes: Uint8Array): void {
  file.sql.putArtifact.run(openRow(file, key).id, id, bytes);
}

export function getArtifact(
  file: ReadableFile,
  key: JournalKey,
  id: string,
  start: number,
  end: number,
): Uint8Array | undefined {
  const row = rowOf(file, key);
  const part = row && file.sql.artifact.get(row.id, id, start, end - start)?.["part"];
  return part instanceof Uint8Array ? part : undefined;
}

function keepSnapshot({ sql }: File, key: JournalKey, snapshot: Snapshot, seal: string): void {
  const { version, last, head, bytes } = snapshot;
  sql.keepSnapshot.run(key, version, last, head, seal, bytes);
}

type SnapshotRow = Snapshot & { seal: string };

/** Undefined also where it is not what was kept, or not of what is stored. */
export function getSnapshot(
  file: ReadableFile,
  { snapshot }: Looks,
  key: JournalKey,
): Snapshot | undefined {
  const row = snapshot.get(key) as SnapshotRow | undefined;
  return row !== undefined && has(file, key, row) && row.seal === sealOfSnapshot(key, row)
    ? row
    : undefined;
}

/** False where that would be more than `limit`. */
function setAside({ sql, now }: File, made: Reservation, limit: number): boolean {
  if (sql.setAside.run(made.counter, made.amount, limit, now()).changes === 0) return false;
  sql.reserve.run(made.id, made.counter, made.amount, now());
  return true;
}

function settle({ sql, now }: File, { id }: Reservation, actual: number): void {
  const row = sql.settle.get(id);
  if (row !== undefined)
    sql.correct.run(actual - Number(row["amount"]), now(), row["counter"] ?? "");
}

function beat({ sql, now }: File, host: string): void {
  sql.beat.run(host, now());
  sql.forgetHosts.run(now() - MAX_IDLE_MS);
}

/** Drops the counters that nobody used for `MAX_IDLE_MS`, so that the store does not grow for ever. */
export function forget({ sql, now }: File): void {
  sql.forgetCounters.run(now() - MAX_IDLE_MS);
  sql.forgetReservations.run(now() - MAX_IDLE_MS);
}

/** What the store's thread can be asked. */
export const VERBS = {
  post,
  lease,
  renew,
  append,
  release,
  beat,
  keepSnapshot,
  putArtifact,
  setAside,
  settle,
};
