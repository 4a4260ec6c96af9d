import { type AppendKind, type Draft, isFact, type StoredEntry } from "../core/entry.ts";
import { decodeContent } from "../core/entry-codec.ts";
import { plainId } from "../core/stored-id.ts";
import { BotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { inPages } from "../core/pages.ts";
import { type Chain, checkChain, checkEnd, type SealedRow } from "./seal.ts";

/** @throws BotError ENTRY_INVALID */
export function decodeRow({
  seq,
  id: stored,
  at,
  kind,
  version,
  body,
  head,
}: SealedRow): StoredEntry {
  try {
    const content = decodeContent({ stored, kind, version, body });
    const known = { seq, id: plainId(kind, stored), at, ...(head !== null && { head }) };
    if (content === undefined) return { ...known, kind: "newer", written: `${kind}/${version}` };
    return { ...known, ...content };
  } catch (error) {
    const text = `Entry ${seq} (${kind}) does not have the form of its kind; the journal was left alone.`;
    throw new BotError("ENTRY_INVALID", text, { cause: error });
  }
}

/**
 * Checks that the rows are what was written, and decodes them. The event loop turns meanwhile, however many there are.
 * @throws BotError ENTRY_INVALID, JOURNAL_ALTERED
 */
export async function decodeChain(
  key: JournalKey,
  { rows, after, previous, end }: Chain,
): Promise<StoredEntry[]> {
  const entries: StoredEntry[] = [];
  const ids = new Set<string>();
  let head = previous;
  for await (const page of inPages(rows)) {
    checkChain(key, page, { after: after + entries.length, previous: head }, ids);
    entries.push(...page.map(decodeRow));
    head = page.at(-1)?.head ?? null;
  }
  checkEnd(key, { last: after + rows.length, head }, end);
  return entries;
}

/** Whether an append is of facts, or of decisions. @throws TypeError when it is of both */
export function areFacts(drafts: readonly Draft<AppendKind>[]): boolean {
  const facts = drafts.filter(isFact).length;
  if (facts !== 0 && facts !== drafts.length) {
    throw new TypeError("facts and decisions never share an append");
  }
  return facts > 0;
}
