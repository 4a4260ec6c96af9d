import type { Viewer } from "../core/viewer.ts";
import type { Filter } from "./incident.ts";
import type { FoundPast, PastRow } from "./past-threads.ts";
import type { Period } from "./period.ts";
import { type Counted, countIncidents } from "./stats.ts";
import type { Numbers, NumbersAsked } from "./numbered.ts";
import { numbersOf } from "./numbers.ts";
import type { ReadHead } from "./read-head.ts";
import { type CatalogRow, openTables } from "./tables.ts";

/** The store's incidents and threads as tables and indexes of their words: a cache that is filled from their journals. */
export interface Catalog {
  /** Up to where the store's changes are in it; undefined: it is empty. */
  mark(): string | undefined;
  /** Those that it does not have as they are. */
  stale(heads: readonly ReadHead[]): string[];
  put(rows: readonly CatalogRow[], mark: string): void;
  /** Frees what it holds; it is used again as an empty one. */
  clear(): void;
  /** The newest beginning first. */
  list(filter: Filter, viewer: Viewer): ReadHead[];
  count(filter: Filter, viewer: Viewer): number;
  /** The best match first, some hundreds at the most, and how many there are. */
  search(text: string, filter: Filter, viewer: Viewer): { count: number; found: ReadHead[] };
  stats(period: Period, viewer: Viewer, listed: number): Counted<ReadHead>;
  /** The other numbers of a period. */
  numbers(period: Period, viewer: Viewer, asked: NumbersAsked): Numbers<ReadHead>;
  /** Those that are written alike, and the newest. */
  near(id: string, viewer: Viewer): { near: string[]; newest: string[] };
  /** Up to where a transport's threads are in it, as lists are ordered; undefined: there are none. */
  pastMark(transport: string): number | undefined;
  pastStale(heads: readonly ReadHead[]): string[];
  putPast(rows: readonly PastRow[], transport: string, mark: number): void;
  /** Threads with keys that begin so, whoever may see them. */
  findPast(text: string, prefixes: readonly string[], limit: number): FoundPast[];
}

/** What may be asked, in this thread or another one. */
export type AnyCatalog = {
  [V in keyof Catalog]: (
    ...args: Parameters<Catalog[V]>
  ) => ReturnType<Catalog[V]> | Promise<ReturnType<Catalog[V]>>;
};

/** Opens an empty one. Its memory does not grow with it, but with the words that occur. */
export function openCatalog(): Catalog {
  let opened: ReturnType<typeof openTables> | undefined;
  const tables = () => (opened ??= openTables());

  function clear(): void {
    opened?.db.close();
    opened = undefined;
  }

  function orClear(work: () => void): void {
    try {
      work();
    } catch (error) {
      clear(); // It is not known what it holds now.
      throw error;
    }
  }

  return {
    mark: () => opened?.mark(),
    stale: (heads) => heads.filter((each) => !tables().holds(each)).map(({ id }) => id),
    put: (rows, mark) => orClear(() => tables().put(rows, mark)),
    clear,
    list: (filter, viewer) => tables().headsOf(tables().list(filter, viewer)),
    count: (filter, viewer) => tables().count(filter, viewer),
    search(text, filter, viewer) {
      const { count, ids } = tables().search(text, filter, viewer);
      return { count, found: tables().headsOf(ids) };
    },
    stats(period, viewer, listed) {
      const { db, visible, headsOf } = tables();
      const counted = countIncidents(db, visible(viewer), period, listed);
      const { newest, longest } = counted;
      return { ...counted, newest: headsOf(newest), longest: headsOf(longest) };
    },
    numbers(period, viewer, asked) {
      const { db, visible, headsOf } = tables();
      const { counts, which, ...rest } = numbersOf(db, visible(viewer), period, asked);
      return {
        ...rest,
        counts: counts.map((number) => ({ ...number, newest: headsOf(number.newest) })),
        which: which && { ...which, found: headsOf(which.found) },
      };
    },
    near: (id, viewer) => tables().near(id, viewer),
    pastMark: (transport) => opened?.past.mark(transport),
    pastStale: (heads) => heads.filter((each) => !tables().past.holds(each)).map(({ id }) => id),
    putPast: (...rows) => orClear(() => tables().past.put(...rows)),
    findPast: (...asked) => tables().past.find(...asked),
  };
}
