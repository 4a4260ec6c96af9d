import type { Entry, JsonObject, Kind } from "../core/entry.ts";
import type { ErrorCode } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";

/**
 * What happens in this process, for whoever watches. `written` is the most of it: an entry that this worker has folded of its own
 * writing, so that of several processes each tells what it did, once. The others are what no journal keeps.
 */
export type BotEvent =
  | { readonly kind: "written"; readonly key: JournalKey; readonly entry: Entry }
  /** A run's model is asked for its next turn; `step` counts from 1. */
  | {
      readonly kind: "model_asked";
      readonly key: JournalKey;
      readonly run: string;
      readonly step: number;
    }
  /** A call is carried out now; its end is the entry `tool_finished`. */
  | {
      readonly kind: "tool_began";
      readonly key: JournalKey;
      readonly run: string;
      readonly call: string;
      readonly tool: string;
    }
  /** A journal's lease was taken; `attempts`: so often since it was last given back, this time included. */
  | { readonly kind: "taken"; readonly key: JournalKey; readonly attempts: number }
  /** A platform did not show what it was given; it is tried again. `code`: of our table. */
  | {
      readonly kind: "refused";
      readonly key: JournalKey;
      readonly transport: string;
      readonly code: ErrorCode | undefined;
    }
  /** A message was shown twice, and this copy is being taken back. */
  | { readonly kind: "copied"; readonly key: JournalKey; readonly transport: string }
  /** A tool's code threw what nobody foresaw: a fault of ours or of a pack's. */
  | {
      readonly kind: "tool_crashed";
      readonly tool: string;
      readonly args: JsonObject;
      readonly error: unknown;
    }
  /** A tool only failed, so it is left alone for `waitMs`. */
  | {
      readonly kind: "circuit_opened";
      readonly tool: string;
      readonly failures: number;
      readonly waitMs: number;
    }
  | MemoryEvent;

/** What memory does. There are names and counts in it, never what is remembered or asked. */
export type MemoryEvent = { readonly kind: "memory" } & (
  | {
      readonly did: "remembered";
      readonly what: "note" | "task";
      readonly id: string;
      readonly thread: string;
    }
  /** What a thread found was counted on the record of that name. */
  | { readonly did: "merged"; readonly id: string; readonly thread: string }
  | { readonly did: "forgotten"; readonly id: string; readonly thread: string }
  | { readonly did: "recalled"; readonly found: number; readonly ms: number }
  /** `embed`: the provider of vectors; words alone are compared for a minute. The others are told to whoever asked, too. */
  | {
      readonly did: "failed";
      readonly doing: "remember" | "recall" | "embed";
      readonly error: unknown;
      /** The model of vectors. */
      readonly model?: string;
    }
);

/** What to do with the entries of some kinds. */
export type ByKind = {
  readonly [K in Kind]?: (key: JournalKey, entry: Entry<K>) => void;
};

export function applyKind<K extends Kind>(by: ByKind, key: JournalKey, entry: Entry<K>): void {
  by[entry.kind]?.(key, entry);
}
