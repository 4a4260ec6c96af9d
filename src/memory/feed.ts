import type { StoredEntry } from "../core/entry.ts";
import { isBotError } from "../core/errors.ts";
import { createTurns } from "../core/turns.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { Journal, JournalSummary, Known, Position } from "../journal/journal.ts";
import type { MemoryIndex, Put } from "./index-port.ts";
import { createFold } from "./fold.ts";
import { type Episode, type MemoryItem, spaceIn, textOf } from "./item.ts";
import { termsIn } from "../core/terms.ts";

/** Items that are put into the index at once. */
const AT_ONCE = 1_000;

type Read = Pick<Journal, "read" | "changes">;

/** An incident as it is now, and who may read it. */
export interface Recorded {
  readonly id: string;
  /** So many entries its journal has. */
  readonly last: number;
  readonly thread: string;
  readonly link: string | undefined;
  readonly audience: string | undefined;
  readonly tenant: string | undefined;
  readonly episode: Episode;
}

/** Reads an incident's journal; undefined: nothing in it can be shown. */
export type ReadIncident = (key: JournalKey) => Promise<Recorded | undefined>;

/** Incidents' journals, which the index has as one: its mark says up to where the store's changes are in it. */
const INCIDENTS = "incident";

/**
 * Takes into the index what was remembered since, by whichever process. One after the other feeds it. False: nothing was ever
 * remembered, and the index was not asked.
 */
export function createFeed(
  journal: Read,
  index: MemoryIndex,
  readIncident?: ReadIncident,
): () => Promise<boolean> {
  const turns = createTurns<"feed">();
  let mark: string | undefined;

  async function feed(): Promise<boolean> {
    if (mark === undefined && !(await hasAny())) return false;
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
    if (readIncident !== undefined)
      await takeIncidents(journal, index, readIncident, marks.get(INCIDENTS));
    return true;
  }

  async function hasAny(): Promise<boolean> {
    for (const transport of ["memory", ...(readIncident === undefined ? [] : [INCIDENTS])])
      if ((await journal.changes(transport)).changed.length > 0) return true;
    return false;
  }

  return () => turns("feed", feed);
}

async function takeIncidents(
  journal: Read,
  index: MemoryIndex,
  readIncident: ReadIncident,
  known: Known | undefined,
): Promise<void> {
  let mark = known?.head ?? undefined;
  for (let more = true; more;) {
    const page = await journal.changes(INCIDENTS, mark);
    if (page.restarted && mark !== undefined) await index.drop(INCIDENTS);
    const rows: Put[] = [];
    for (const { key } of page.changed) {
      const recorded = await readIncident(key);
      if (recorded !== undefined) rows.push(rowOf(recorded));
    }
    if (rows.length > 0 || page.mark !== mark)
      await index.put(INCIDENTS, rows, { last: 0, head: page.mark });
    ({ mark, more } = page);
  }
}

function rowOf({ id, last: seq, thread, link, audience, tenant, episode }: Recorded): Put {
  const { kind, begun: at } = episode;
  const item: MemoryItem = { id, journal: INCIDENTS, at, thread, link, what: episode };
  const terms = termsIn(textOf(item)).join(" ");
  const space = spaceIn(audience, tenant);
  return { id, journal: INCIDENTS, seq, at, space, kind, item: JSON.stringify(item), terms };
}

async function take(
  journal: Read,
  index: MemoryIndex,
  { key, last, head }: JournalSummary,
  known: Known | undefined,
): Promise<void> {
  if (known?.last === last && known.head === (head ?? null)) return;
  const { entries, isWhole } = await unread(journal, index, key, known);
  const fold = createFold(key, isWhole ? undefined : index);
  for (let i = 0; i < entries.length; i += AT_ONCE) {
    const page = entries.slice(i, i + AT_ONCE);
    const newer = page.findIndex(({ kind }) => kind === "newer");
    const read = newer < 0 ? page : page.slice(0, newer);
    const end = read.at(-1);
    if (end === undefined) return;
    const rows: Put[] = [];
    for (const entry of read) rows.push(...(await fold(entry)));
    await index.put(key, rows, { last: end.seq, head: end.head ?? null });
    if (newer >= 0) return;
  }
}

async function unread(
  journal: Read,
  index: MemoryIndex,
  key: JournalSummary["key"],
  known: Known | undefined,
): Promise<{ entries: StoredEntry[]; isWhole: boolean }> {
  const whole = async () => ({ entries: await journal.read(key), isWhole: true });
  if (known === undefined) return whole();
  try {
    const after: Position = { last: known.last, head: known.head ?? undefined };
    return { entries: await journal.read(key, after), isWhole: false };
  } catch (error) {
    if (!isBotError(error, "JOURNAL_LOST")) throw error;
    await index.drop(key);
    return whole();
  }
}
