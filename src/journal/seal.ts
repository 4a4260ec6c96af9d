import { hash } from "node:crypto";
import { BotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";

/** An entry as a store keeps it; `body` is its content as JSON. */
interface EntryRow {
  seq: number;
  id: string;
  at: number;
  kind: string;
  version: number;
  body: string;
}

/** An entry with its seal; `null`: written by 0.3, which had none. */
export interface SealedRow extends EntryRow {
  head: string | null;
}

/**
 * A journal's running hash: each entry's head is the SHA-256 of the head before it and of all that the entry says, 43
 * characters. The first one follows `originOf`.
 */
export function sealOf(previous: string, { seq, at, id, kind, version, body }: EntryRow): string {
  const what = JSON.stringify([previous, seq, at, id, kind, version]);
  return hash("sha256", `${what}\n${body}`, "base64url");
}

/** What a journal's chain begins with, after `last` entries without a seal. */
function originOf(key: JournalKey, last: number): string {
  return JSON.stringify([key, last]);
}

/** The head that the next entry follows. `head`: of the last one, if it has any. */
export function followed(key: JournalKey, last: number, head: string | null | undefined): string {
  return head ?? originOf(key, last);
}

/**
 * Checks that rows are those that were written, in their order, with none missing between `after` and the last of them.
 * `previous`: the head of entry number `after`, if it has one. `ids`: those of earlier rows, to which these are added.
 * @throws BotError JOURNAL_ALTERED
 */
export function checkChain(
  key: JournalKey,
  rows: readonly SealedRow[],
  { after, previous }: { after: number; previous: string | null },
  ids = new Set<string>(),
): void {
  let head = previous;
  for (const [i, row] of rows.entries()) {
    const seq = after + 1 + i;
    if (row.seq !== seq) throw altered(key, `entry ${seq} is missing`);
    if (ids.has(row.id)) throw altered(key, `entry ${seq} repeats the id of an earlier one`);
    ids.add(row.id);
    if (row.head === null && head === null) continue;
    if (row.head !== sealOf(followed(key, seq - 1, head), row)) {
      throw altered(key, `entry ${seq} is not what was written there`);
    }
    head = row.head;
  }
}

interface End {
  readonly last: number;
  readonly head: string | null;
}

/** Checks that what was found ends where the journal says it does. @throws BotError JOURNAL_ALTERED */
export function checkEnd(key: JournalKey, found: End, { last, head }: End): void {
  if (found.last !== last || found.head !== head)
    throw altered(key, `it does not end with entry ${last} as it was written`);
}

export interface Chain {
  readonly rows: readonly SealedRow[];
  /** The number of the entry before them. */
  readonly after: number;
  /** Its head, if it has one. */
  readonly previous: string | null;
  /** What the journal says it ends with. */
  readonly end: { readonly last: number; readonly head: string | null };
}

interface Named {
  readonly id: string;
}

export function absentFrom<T extends Named>(entries: readonly Named[], drafts: readonly T[]): T[] {
  const ids = new Set(entries.map(({ id }) => id));
  return drafts.filter(({ id }) => !ids.has(id));
}

/** Checks that all that a store says is written is among its entries. @throws BotError JOURNAL_ALTERED */
export function checkWritten(
  key: JournalKey,
  entries: readonly Named[],
  drafts: readonly Named[],
): void {
  const [absent] = absentFrom(entries, drafts);
  if (absent !== undefined)
    throw altered(key, `it is said to have ${absent.id}, and has no such entry`);
}

export function altered(key: JournalKey, what: string): BotError {
  const text = `${key} was altered outside this program: ${what}. It is left alone: restore a copy of the store, or go on in a new thread.`;
  return new BotError("JOURNAL_ALTERED", text);
}

export function lostEntries(key: JournalKey): BotError {
  const text = `The store no longer has the entries of ${key} that this process had read: it was set back, or lost what it had acknowledged.`;
  return new BotError("JOURNAL_LOST", text);
}
