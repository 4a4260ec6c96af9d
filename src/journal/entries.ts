import { type AppendKind, type Draft, isFact, type StoredEntry } from "../core/entry.ts";
import { decodeContent } from "../core/entry-codec.ts";
import { BotError } from "../core/errors.ts";

/** An entry as a store keeps it; `body` is its content as JSON. */
export interface EntryRow {
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

/** @throws BotError ENTRY_INVALID */
export function decodeRow({ seq, id, at, kind, version, body, head }: SealedRow): StoredEntry {
  try {
    const content = decodeContent(kind, version, JSON.parse(body));
    const known = { seq, id, at, ...(head !== null && { head }) };
    if (content === undefined) return { ...known, kind: "newer", written: `${kind}/${version}` };
    return { ...known, ...content };
  } catch (error) {
    const text = `Entry ${seq} (${kind}) does not have the form of its kind; the journal was left alone.`;
    throw new BotError("ENTRY_INVALID", text, { cause: error });
  }
}

/** Whether an append is of facts, or of decisions. @throws TypeError when it is of both */
export function areFacts(drafts: readonly Draft<AppendKind>[]): boolean {
  const facts = drafts.filter(isFact).length;
  if (facts !== 0 && facts !== drafts.length) {
    throw new TypeError("facts and decisions never share an append");
  }
  return facts > 0;
}
