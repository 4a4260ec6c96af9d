import { type AppendKind, decodeContent, type Draft, isFact } from "../core/entry.ts";
import { BotError } from "../core/errors.ts";
import type { StoredEntry } from "./journal.ts";

/** An entry as a store keeps it; `body` is its content as JSON. */
export interface EntryRow {
  seq: number;
  id: string;
  at: number;
  kind: string;
  version: number;
  body: string;
}

/** @throws BotError ENTRY_INVALID */
export function decodeRow({ seq, id, at, kind, version, body }: EntryRow): StoredEntry {
  try {
    const content = decodeContent(kind, version, JSON.parse(body));
    if (content === undefined) return { seq, id, at, kind: "newer", written: `${kind}/${version}` };
    return { seq, id, at, ...content };
  } catch (error) {
    throw new BotError(
      "ENTRY_INVALID",
      `Entry ${seq} (${kind}) does not have the form of its kind; the journal was left alone.`,
      { cause: error },
    );
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
