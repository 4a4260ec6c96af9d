import { setImmediate as breathe } from "node:timers/promises";
import { BotError, isBotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { createTurns } from "../core/turns.ts";
import type { Journal } from "../journal/journal.ts";
import type { StoredEntry } from "../core/entry.ts";
import { advance } from "./fold.ts";
import type { Incident, Viewer } from "./incident.ts";
import { createSearchIndex } from "./search.ts";

const PREFIX = "incident:";
/** Journals to read, or incidents to index, before others get their turn. */
const PAGE = 32;

export interface ReadRecord {
  /** The number of its last entry; 0 if it has none. */
  last: number;
  /** The journal's running hash up to there. */
  head: string | undefined;
  incident: Incident | undefined;
  /** Every post by its id; a refused one with the reason. */
  posts: ReadonlyMap<string, BotError | undefined>;
  /** True if a newer program wrote an entry: this one cannot read on from there. */
  newer: boolean;
}

export function keyOf(id: string): JournalKey {
  return `${PREFIX}${id}`;
}

/** The beginning of a post's id tells an opening from a later statement. */
export const POST_PREFIX = { opening: "opened:", word: "said:" } as const;

/**
 * The folded journals of all incidents, for any number of processes that write to the same store. They stay in memory; only
 * journals that have grown are read again.
 */
export function createRecords(journal: Pick<Journal, "read" | "list">) {
  const records = new Map<string, ReadRecord>();
  const index = createSearchIndex();
  const unindexed = new Set<string>();
  const turns = createTurns<"all">();
  /** One reader at a time, so that each sees at least what was there when it was called. */
  const inTurn = <T>(work: () => Promise<T>) => turns("all", work);

  async function read(id: string): Promise<ReadRecord> {
    const known = records.get(id);
    const record = await readOn(id, known);
    if (record.last === known?.last && record.head === known.head) return record;
    records.set(id, record);
    unindexed.add(id);
    return record;
  }

  async function readOn(id: string, known: ReadRecord | undefined): Promise<ReadRecord> {
    try {
      return foldOn(known, id, await journal.read(keyOf(id), known));
    } catch (error) {
      if (!isBotError(error, "JOURNAL_LOST")) throw error;
      return foldOn(undefined, id, await journal.read(keyOf(id))); // the store was set back
    }
  }

  async function readAll(): Promise<void> {
    const grown: string[] = [];
    const there = new Set<string>();
    for await (const { key, last } of journal.list({ prefix: PREFIX })) {
      const id = key.slice(PREFIX.length);
      const known = records.get(id)?.last ?? 0;
      there.add(id);
      if (last < known) forget(id); // the store's server lost entries
      if (last !== known) grown.push(id);
    }
    for (const id of records.keys()) if (!there.has(id)) forget(id);
    for (let i = 0; i < grown.length; i += PAGE) {
      await Promise.all(grown.slice(i, i + PAGE).map(read));
    }
  }

  function forget(id: string): void {
    records.delete(id);
    unindexed.add(id);
  }

  async function updateIndex(): Promise<void> {
    let count = 0;
    for (const id of unindexed) {
      const incident = records.get(id)?.incident;
      if (incident === undefined) index.remove(id);
      else await index.put(incident);
      unindexed.delete(id);
      count += 1;
      if (count % PAGE === 0) await breathe();
    }
  }

  return {
    read: (id: string) => inTurn(() => read(id)),
    /** All of them, as they are now, whoever may see them. */
    async incidents(): Promise<Incident[]> {
      await inTurn(readAll);
      return [...records.values()].flatMap(({ incident }) => incident ?? []);
    },
    /** Scores by id, among the incidents last read that this viewer may see. */
    async search(text: string, viewer: Viewer): Promise<ReadonlyMap<string, number>> {
      await inTurn(updateIndex);
      return new Map(index.find(text, viewer).map(({ id, score }) => [id, score]));
    },
  };
}

/** Returns the record with more entries; leaves `before` unchanged. */
function foldOn(
  before: ReadRecord | undefined,
  id: string,
  entries: readonly StoredEntry[],
): ReadRecord {
  const nothing = { last: 0, head: undefined, incident: undefined, newer: false };
  let { last, head, incident, newer }: Omit<ReadRecord, "posts"> = before ?? nothing;
  const posts = new Map(before?.posts);
  for (const entry of entries) {
    last = entry.seq;
    head = entry.head;
    newer ||= entry.kind === "newer";
    if (newer || entry.kind !== "incident") continue;
    posts.set(entry.id, undefined);
    try {
      const opens = entry.id.startsWith(POST_PREFIX.opening);
      if (opens !== (incident === undefined)) throw taken(id);
      incident = advance(incident, id, entry);
    } catch (error) {
      if (!isBotError(error)) throw error;
      posts.set(entry.id, error);
    }
  }
  return { last, head, incident, posts, newer };
}

/** Two calls chose the same id at the same time; the later one takes another. */
function taken(id: string): BotError {
  return new BotError("PRECHECK_FAILED", `${id} is already another incident's id.`);
}
