import { LRUCache } from "lru-cache";
import { BotError, isBotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { createTurns } from "../core/turns.ts";
import type { Journal } from "../journal/journal.ts";
import type { StoredEntry } from "../core/entry.ts";
import { advance } from "./fold.ts";
import type { AnyCatalog } from "./catalog.ts";
import type { Incident } from "./incident.ts";
import type { ReadHead } from "./read-head.ts";
import { type CatalogRow, listedOf } from "./tables.ts";

const TRANSPORT = "incident";
const PREFIX = `${TRANSPORT}:` as const;
/** Journals that are read at once. */
const PAGE = 32;
/** Incidents that are taken into the catalog at once. */
const AT_ONCE = 250;
/** Some KB each. */
const KEPT = 256;

export const ID = /^inc-\d{8}-[a-z2-7]{4}$/;

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

function idOf(key: JournalKey): string {
  return key.slice(PREFIX.length);
}

/** The beginning of a post's id tells an opening from a later statement. */
export const POST_PREFIX = { opening: "opened:", word: "said:" } as const;

/** A record with the entries that it is made of. */
export interface WholeRecord extends ReadRecord {
  entries: readonly StoredEntry[];
}

/** One record, read whole. */
export async function readRecord(journal: Pick<Journal, "read">, id: string): Promise<WholeRecord> {
  const entries = await journal.read(keyOf(id));
  return { ...foldOn(undefined, id, entries), entries };
}

/**
 * The folded journals of incidents, for any number of processes that write to the same store. The catalog says which ones are
 * wanted; what is handed out is read from the journals. Those that were read last stay in memory.
 */
export function createRecords(journal: Pick<Journal, "read" | "changes">, catalog: AnyCatalog) {
  const records = new LRUCache<string, ReadRecord>({ max: KEPT });
  const turns = createTurns<"feed">();

  async function read(id: string): Promise<ReadRecord> {
    const record = await readOn(id, records.get(id));
    records.set(id, record);
    return record;
  }

  async function readOn(id: string, before: ReadRecord | undefined): Promise<ReadRecord> {
    try {
      return foldOn(before, id, await journal.read(keyOf(id), before));
    } catch (error) {
      if (!isBotError(error, "JOURNAL_LOST")) throw error;
      return foldOn(undefined, id, await journal.read(keyOf(id))); // the store was set back
    }
  }

  /** Read again only where it is not what the catalog knows. */
  async function known({ id, last, head }: ReadHead): Promise<ReadRecord> {
    const record = records.get(id);
    return record?.last === last && record.head === head ? record : read(id);
  }

  /** Takes into the catalog what has changed since. */
  async function feed(): Promise<void> {
    let mark = await catalog.mark();
    const rows = new Map<string, CatalogRow>();
    for (let more = true; more;) {
      const page = await journal.changes(TRANSPORT, mark);
      if (page.restarted) {
        await catalog.clear();
        rows.clear();
      }
      const heads = page.changed.map(({ key, last, head }) => ({ id: idOf(key), last, head }));
      const stale = await catalog.stale(heads);
      await Promise.all(stale.map(async (id) => rows.set(id, rowOf(id, await read(id)))));
      ({ mark, more } = page);
      // Few at a time would each cost a merge of the index.
      if (more && rows.size < AT_ONCE) continue;
      await catalog.put([...rows.values()], mark);
      rows.clear();
    }
  }

  return {
    read,
    /** Asks the catalog when it has all that was there before. One after the other feeds it. */
    async ask<T>(question: (catalog: AnyCatalog) => T | Promise<T>): Promise<T> {
      await turns("feed", feed);
      return question(catalog);
    },
    /** The incidents that the catalog has found, in order. */
    async incidents(heads: readonly ReadHead[]): Promise<Incident[]> {
      const found: Incident[] = [];
      for (let i = 0; i < heads.length; i += PAGE) {
        const page = await Promise.all(heads.slice(i, i + PAGE).map(known));
        found.push(...page.flatMap(({ incident }) => incident ?? []));
      }
      return found;
    },
  };
}

function rowOf(id: string, { last, head, incident }: ReadRecord): CatalogRow {
  return { id, last, head, listed: incident && listedOf(incident) };
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
