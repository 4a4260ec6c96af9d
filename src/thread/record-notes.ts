import type { Content } from "../core/entry.ts";

type Change = Content<"incident">["change"];
type AlertFact = NonNullable<Change["alert"]>;
export type Acted = NonNullable<Change["acted"]>;

/** One thing that happened in a thread and belongs into the records of its incidents. */
export interface RecordFact {
  /** The same for ever. */
  readonly id: string;
  /** When it became known, and when what it is about began: ms since 1970. */
  readonly at: number;
  readonly since: number;
  readonly what: { readonly alert: AlertFact } | { readonly acted: Acted };
}

/** What the records of these incidents have yet to say. */
export interface RecordOwed {
  /** The entry as of which. */
  readonly entry: string;
  readonly incidents: readonly string[];
  readonly facts: readonly RecordFact[];
}

/** What records need of a thread, and nothing else keeps. */
export class RecordNotes {
  /** By entry. */
  readonly owed = new Map<string, RecordOwed>();
  /** Of each group of alerts and each action the newest fact of each kind, for an incident that is opened afterwards. */
  readonly alerts = new Map<string, RecordFact>();
  readonly acted = new Map<string, RecordFact>();
  /** The incidents that were told all of these. */
  readonly open = new Set<string>();
}
