import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { asksForWork, type Draft, type Entry, type StoredEntry } from "../../core/entry.ts";
import { encodeDraft } from "../../core/entry-codec.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { Backend } from "../create.ts";
import { areFacts, decodeRow, type SealedRow } from "../entries.ts";
import { type Known, type Lease, MAX_IDLE_MS } from "../journal.ts";
import {
  absentFrom,
  altered,
  type Chain,
  checkChain,
  checkEnd,
  checkWritten,
  followed,
  lostEntries,
  sealOf,
} from "../seal.ts";
import type { JournalRow, prepareReads, Statements } from "./statements.ts";

/** The journal's verbs, each within a transaction of the caller's. */
type Verb<Name extends keyof Backend> = (
  file: File,
  ...args: Parameters<Backend[Name]>
) => Awaited<ReturnType<Backend[Name]>>;

export interface ReadableFile {
  db: DatabaseSync;
  path: string;
  sql: Pick<Statements, keyof ReturnType<typeof prepareReads>>;
  now: () => number;
}

export interface File extends ReadableFile {
  sql: Statements;
}

export function rowOf({ sql }: ReadableFile, key: JournalKey): JournalRow | undefined {
  return sql.row.get(key) as JournalRow | undefined;
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

function chainAfter(file: ReadableFile, row: JournalRow, last: number): Chain {
  const rows = file.sql.after.all(row.id, last) as unknown as SealedRow[];
  return { rows, after: last, previous: headAt(file, row, last), end: row };
}

function readAfter(file: ReadableFile, row: JournalRow, last: number): StoredEntry[] {
  const { rows, ...place } = chainAfter(file, row, last);
  checkChain(row.key, rows, place);
  const head = rows.at(-1)?.head ?? place.previous;
  checkEnd(row.key, { last: last + rows.length, head }, row);
  return rows.map(decodeRow);
}

/** What follows in the journal, as it is stored: `decodeChain` checks it. Undefined: there is no such journal. */
export function read(file: ReadableFile, key: JournalKey, known: Known): Chain | undefined {
  const row = rowOf(file, key);
  if (row === undefined && known.last === 0) return undefined;
  if (row === undefined || !isThere(file, row, known)) throw lostEntries(key);
  return chainAfter(file, row, known.last);
}

function write(file: File, row: JournalRow, drafts: readonly Draft[]): Entry[] {
  const at = clockOf(file, row);
  let head = followed(row.key, row.last, row.head);
  const written = drafts.map((draft, i): Entry => {
    const { id, kind, version, body } = encodeDraft(draft);
    const seq = row.last + 1 + i;
    head = sealOf(head, { seq, id, at, kind, version, body });
    file.sql.insert.run(row.id, seq, id, at, kind, version, body, head);
    return { seq, at, head, ...draft };
  });
  file.sql.advance.run(row.last + drafts.length, at, head, row.id);
  return written;
}

/** Who holds the journal, and when it is next due, for which host; while it is held that is the lease's end. */
function hold(
  { sql }: File,
  row: JournalRow,
  held: { token: string | null; dueAt: number | null; attempts: number; host?: string },
): void {
  sql.hold.run(held.token, held.dueAt, held.attempts, held.host ?? null, row.id);
}

export const post: Verb<"post"> = (file, key, draft) => {
  const time = file.now();
  const row = openRow(file, key);
  const known = file.sql.byId.get(row.id, draft.id) as SealedRow | undefined;
  if (known !== undefined) {
    const after = known.seq - 1;
    if (after < 0 || after >= row.last) throw altered(key, `it has an entry ${known.seq}`);
    checkChain(key, [known], { after, previous: headAt(file, row, after) });
    return { entry: decodeRow(known), duplicate: true };
  }
  const [entry] = write(file, row, [draft]);
  if (asksForWork(draft)) {
    const dueAt = row.token === null ? time : row.due_at;
    hold(file, row, { token: row.token, dueAt, attempts: 0 });
  }
  if (entry === undefined) throw new TypeError("nothing was written");
  return { entry, duplicate: false };
};

export const lease: Verb<"lease"> = (file, key, ttlMs) => {
  const row = rowOf(file, key);
  if (row === undefined) return undefined;
  const now = file.now();
  if (row.token !== null && row.due_at !== null && now < row.due_at) return undefined;
  const token = randomBytes(12).toString("base64url");
  const attempts = row.attempts + 1;
  hold(file, row, { token, dueAt: now + ttlMs, attempts });
  return { lease: { key, token, ttlMs }, attempts, now };
};

export const renew: Verb<"renew"> = (file, held) => {
  const row = heldBy(file, held);
  if (row === undefined) return { kind: "fenced" };
  const now = file.now();
  hold(file, row, { token: held.token, dueAt: now + held.ttlMs, attempts: row.attempts });
  return { kind: "ok", last: row.last, now };
};

export const append: Verb<"append"> = (file, held, known, drafts, before) => {
  const facts = areFacts(drafts);
  const row = heldBy(file, held);
  if (row === undefined) return { kind: "fenced" };
  if (!isThere(file, row, known)) return { kind: "lost" };
  const { last } = known;
  const now = clockOf(file, row);
  const missing = drafts.filter(({ id }) => file.sql.byId.get(row.id, id) === undefined);
  if (missing.length > 0) {
    if (before !== undefined && now >= before) return { kind: "late", now };
    if (!facts && row.last !== last) {
      return { kind: "unseen", unseen: readAfter(file, row, last), now };
    }
    const written = write(file, row, missing);
    if (row.last === last && missing.length === drafts.length) {
      return { kind: "ok", unseen: written, now };
    }
  }
  const current = rowOf(file, held.key) ?? row;
  const unseen = readAfter(file, current, last);
  const others = absentFrom(unseen, drafts);
  if (others.length > 0) checkWritten(held.key, readAfter(file, current, 0), others);
  return { kind: "ok", unseen, now };
};

export const release: Verb<"release"> = (file, held, known, dueAt, host) => {
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
  return { kind: "ok" };
};

export const putArtifact: Verb<"putArtifact"> = (file, key, id, bytes) => {
  file.sql.putArtifact.run(openRow(file, key).id, id, bytes);
};

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

export const setAside: Verb<"setAside"> = ({ sql, now }, { id, counter, amount }, limit) => {
  if (sql.setAside.run(counter, amount, limit, now()).changes === 0) return false;
  sql.reserve.run(id, counter, amount, now());
  return true;
};

export const settle: Verb<"settle"> = ({ sql, now }, { id }, actual) => {
  const row = sql.settle.get(id);
  if (row !== undefined)
    sql.correct.run(actual - Number(row["amount"]), now(), row["counter"] ?? "");
};

/** Drops the counters that nobody used for `MAX_IDLE_MS`, so that the store does not grow for ever. */
export function forget({ sql, now }: File): void {
  sql.forgetCounters.run(now() - MAX_IDLE_MS);
  sql.forgetReservations.run(now() - MAX_IDLE_MS);
}
