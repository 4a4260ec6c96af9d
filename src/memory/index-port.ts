import type { Known } from "../journal/journal.ts";
import type { Space } from "./item.ts";

/** An item as an index keeps it. */
export interface Row {
  readonly id: string;
  readonly journal: string;
  /** The entry that says it; of one id the newest counts. */
  readonly seq: number;
  readonly at: number;
  readonly space: Space;
  readonly kind: "note" | "task" | "incident";
  /** JSON, for whoever shows it. */
  readonly item: string;
  /** Its terms, with a space between. */
  readonly terms: string;
  /** What a model makes of its text; it is added later where there is none yet. */
  readonly vector?: Float32Array | undefined;
}

/** What is put into an index: an item, or that one was forgotten and never comes back. */
export type Put = Row | { readonly id: string; readonly journal: string; readonly forgotten: true };

export interface Candidate {
  readonly id: string;
  readonly journal: string;
  readonly at: number;
  readonly space: Space;
  readonly item: string;
  readonly terms: string;
  /** Cosine of the angle to the vector that was asked for; undefined: it was found by its terms. */
  readonly near?: number;
}

export interface Embedded {
  readonly id: string;
  readonly journal: string;
  /** The entry whose words it was made of: a row that changed since keeps no vector of its old words. */
  readonly seq: number;
  readonly vector: Float32Array;
}

/** Of some spaces: how many texts and terms they have, and in how many of the texts each asked term occurs. */
export interface Statistics {
  readonly texts: number;
  readonly terms: number;
  readonly having: readonly number[];
}

export interface Wanted {
  readonly kind?: Row["kind"] | undefined;
  readonly limit: number;
}

/** Texts in no journal whose vectors an index keeps: some thousand skills have as many sections. */
export const MOST_TEXTS = 20_000;

/**
 * Where memory is looked for: a cache of the journals that have it, filled again whenever it is lost. Whoever may see a space
 * sees all of it, and nothing of one space changes what is found in another.
 */
export interface MemoryIndex {
  /** How far each journal is in it. */
  marks(): Promise<{ journal: string; known: Known }[]>;
  /** All or nothing. */
  put(journal: string, rows: readonly Put[], known: Known): Promise<void>;
  /** What came from a journal that was set back goes again. */
  drop(journal: string): Promise<void>;
  /** Those that have items. */
  spaces(): Promise<Space[]>;
  find(id: string, spaces: readonly Space[]): Promise<Candidate[]>;
  /** The newest first. */
  newest(spaces: readonly Space[], wanted: Wanted): Promise<Candidate[]>;
  statistics(terms: readonly string[], spaces: readonly Space[]): Promise<Statistics>;
  /** The best that have any of these terms, as the index ranks them. */
  matching(
    terms: readonly string[],
    spaces: readonly Space[],
    wanted: Wanted,
  ): Promise<Candidate[]>;
  /** The nearest first; without vectors nothing. */
  nearest(vector: Float32Array, spaces: readonly Space[], wanted: Wanted): Promise<Candidate[]>;
  /** Items that have no vector yet. */
  unembedded(limit: number): Promise<{ id: string; journal: string; seq: number; item: string }[]>;
  embed(vectors: readonly Embedded[]): Promise<void>;
  /** Of these names those that have a vector. They are of texts in no journal, and of the model that the index is opened with. */
  textVectors(names: readonly string[]): Promise<ReadonlyMap<string, Float32Array>>;
  /** Of more than `MOST_TEXTS` the oldest go. */
  keepTextVectors(made: readonly (readonly [name: string, vector: Float32Array])[]): Promise<void>;
  close(): Promise<void>;
}
