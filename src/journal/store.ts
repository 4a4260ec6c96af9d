import type { SettingsPart } from "../core/settings.ts";
import type { Journal, JournalReader } from "./journal.ts";

export interface OpenOptions {
  /** Told, in a sentence each, what can be lived with and should not be, such as an older version's store. */
  warn?: (text: string) => void;
  /** The store's clock in tests, ms since 1970. */
  now?: () => number;
}

/** A kind of store: a folder and a line in `stores.ts`. Reading the settings and their documentation follow from `settings`. */
export interface Store<S = unknown> extends SettingsPart<S> {
  /** The store that is meant; undefined where these settings mean none of this kind. Loads nothing and reaches for nothing yet. */
  choose(settings: S): ChosenStore | undefined;
}

export interface ChosenStore {
  /** Where it keeps things, for people; without what logs in. */
  readonly shown: string;
  /** What wakes processes to work, unless that is set. */
  readonly wakeups: "in-process" | "bullmq";
  /** Why what it keeps will be lost where it is, a sentence; undefined: no reason is known. */
  whyLost?(): Promise<string | undefined>;
  open(options?: OpenOptions): Promise<Journal>;
  /** For who only looks: an older version's store stays as it is. */
  read(options?: OpenOptions): Promise<JournalReader>;
}

/** Lets TypeScript infer the type of the settings from their schema. */
export function defineStore<S>(store: Store<S>): Store<S> {
  return store;
}
