import type { StoredEntry } from "../core/entry.ts";
import { isBotError } from "../core/errors.ts";
import { createTurns } from "../core/turns.ts";
import type { Journal, JournalSummary, Known, Position } from "../journal/journal.ts";
import type { MemoryIndex, Put } from "./index-port.ts";
import { type MemoryItem, spaceOf, textOf } from "./item.ts";
import { termsIn } from "./terms.ts";

/** Items that are put into the index at once. */
const AT_ONCE = 1_000;

type Read = Pick<Journal, "read" | "changes">;

/**
 * Takes into the index what was remembered since, by whichever process. One after the other feeds it. False: nothing was ever
 * remembered, and the index was not asked.
 */
export function createFeed(journal: Read, index: MemoryIndex): () => Promise<boolean> {
  const turns = createTurns<"feed">();
  let mark: string | undefined;

  async function feed(): Promise<boolean> {
    if (mark === undefined && (await journal.changes("memory")).changed.length === 0) return false;
    const marks = new Map((await index.marks()).map((each) => [each.journal, each.known]));
    // An index that begins again has nothing of what was before the mark.
    if (marks.size === 0) mark = undefined;
    for (let more = true; more;) {
      const page = await journal.changes("memory", mark);
      if (page.restarted) {
        for (const key of marks.keys()) await index.drop(key);
        marks.clear();
      }
      for (const changed of page.changed)
        await take(journal, index, changed, marks.get(changed.key));
      ({ mark, more } = page);
    }
    return true;
  }

  return () => turns("feed", feed);
}

async function take(
  journal: Read,
  index: MemoryIndex,
  { key, last, head }: JournalSummary,
  known: Known | undefined,
): Promise<void> {
  if (known?.last === last && known.head === (head ?? null)) return;
  const entries = await unread(journal, index, key, known);
  for (let i = 0; i < entries.length; i += AT_ONCE) {
    const page = entries.slice(i, i + AT_ONCE);
    const newer = page.findIndex(({ kind }) => kind === "newer");
    const read = newer < 0 ? page : page.slice(0, newer);
    const end = read.at(-1);
    if (end === undefined) return;
    const rows = read.flatMap((entry) => putOf(entry, key));
    await index.put(key, rows, { last: end.seq, head: end.head ?? null });
    if (newer >= 0) return;
  }
}

async function unread(
  journal: Read,
  index: MemoryIndex,
  key: JournalSummary["key"],
  known: Known | undefined,
): Promise<StoredEntry[]> {
  if (known === undefined) return journal.read(key);
  try {
    const after: Position = { last: known.last, head: known.head ?? undefined };
    return await journal.read(key, after);
  } catch (error) {
    if (!isBotError(error, "JOURNAL_LOST")) throw error;
    await index.drop(key);
    return journal.read(key);
  }
}

function putOf(entry: StoredEntry, journal: string): Put[] {
  if (entry.kind !== "memory") return [];
  const { memory: id, at, seq, thread, link, what } = entry;
  if (what.kind === "forgotten") return [{ id, journal, forgotten: true }];
  const item: MemoryItem = { id, journal, at, thread, link, what };
  const terms = termsIn(textOf(item)).join(" ");
  const space = spaceOf(entry, journal);
  return [{ id, journal, seq, at, space, kind: what.kind, item: JSON.stringify(item), terms }];
}
