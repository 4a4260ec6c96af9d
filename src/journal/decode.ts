import type { StoredEntry } from "../core/entry.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { inPages } from "../core/pages.ts";
import { decodeRow, type SealedRow } from "./entries.ts";
import { checkChain, checkEnd } from "./seal.ts";

/** A journal's last rows, in their order. */
export interface Chain {
  readonly rows: readonly SealedRow[];
  /** The number of the entry before them. */
  readonly after: number;
  /** Its head, if it has one. */
  readonly previous: string | null;
  /** What the journal says it ends with. */
  readonly end: { readonly last: number; readonly head: string | null };
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
