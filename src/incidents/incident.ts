import type { Actor, Content, Severity } from "../core/entry.ts";
import type { Period } from "./period.ts";

/** What is said of an incident in one go; see the entry `incident`. */
export type Change = Content<"incident">["change"];

/** One line of an incident's history. */
export interface Said {
  /** The store's time, ms since 1970. */
  at: number;
  actor: Actor;
  link: string | undefined;
  /** A model said it that had read text from outside: nobody verified it. */
  outside: boolean;
  change: Change;
}

/** One incident as its journal tells it. Times are ms since 1970. */
export interface Incident {
  id: string;
  /** The private place whose incident it is; undefined: everyone of its tenant may read it. Fixed by its opening. */
  audience: string | undefined;
  /** Where it was opened (`tenantOf`); undefined: in a place of no tenant, which is private. */
  tenant: string | undefined;
  /** The address of the thread it was opened in. */
  link: string | undefined;
  title: string;
  severity: Severity | undefined;
  services: string[];
  status: "open" | "resolved";
  /** When it began: as somebody said, else when it was opened. */
  startedAt: number;
  detectedAt: number | undefined;
  /** Undefined while it is open, also again. */
  resolvedAt: number | undefined;
  cause: string | undefined;
  actions: string[];
  /** Everything that was said of it, oldest first. */
  history: Said[];
}

/** Who looks: sees the public incidents of these tenants, and those of exactly this private place. */
export interface Viewer {
  audience: string | undefined;
  tenants: readonly string[] | "all";
}

/** Which call says it, and from where. */
export interface Saying extends Viewer {
  actor: Actor;
  /** The thread's journal key, and the call's id in it: together they name what is said, however often it is said. */
  thread: string;
  call: string;
  link: string | undefined;
  /** A model says it that has read text from outside. */
  outside?: boolean | undefined;
  /** When the call was started on the store's clock, ms since 1970; the same in every repetition. */
  at: number;
}

/** Which incidents are wanted; left out means any. */
export interface Filter {
  status?: Incident["status"] | undefined;
  severity?: Severity | undefined;
  /** A service's name, in any case. */
  service?: string | undefined;
  /** Began in it. */
  period?: Period | undefined;
}

/** Durations in ms; undefined where there is nothing to count. */
export interface Duration {
  /** Of how many incidents. */
  count: number;
  mean: number | undefined;
  median: number | undefined;
}

/** What a viewer's incidents come to in a period. */
export interface Stats {
  /** Began in the period, newest first. */
  opened: Incident[];
  /** Their end lies in the period, newest end first. */
  resolved: Incident[];
  /** Began before the period's end and have not ended yet, newest first. */
  open: Incident[];
  /** Of `opened`, the worst first; undefined: nobody said how severe it is. Only what occurs. */
  bySeverity: { severity: Severity | undefined; count: number }[];
  /** Of `opened`, most first, then by name; an incident counts once for each of its services. */
  byService: { service: string; count: number }[];
  /** From begin to end, of `resolved`. */
  toResolve: Duration;
  /** From begin to detection, of those in `opened` of which that is known. */
  toDetect: Duration;
  /** The one of `resolved` that took the longest. */
  longest: Incident | undefined;
}

/**
 * The record of incidents: one journal each, which only grows. What a viewer may not see does not exist for them, in no
 * list, number, order or suggestion. All verbs throw what the store throws.
 */
export interface Ledger {
  /**
   * The same call again opens nothing and returns what it opened.
   * @throws BotError INPUT_INVALID when the times contradict each other or lie in the future, TIMEOUT when the store does
   * not say whether it was written
   */
  open(saying: Saying, change: Change & { title: string }): Promise<Incident>;
  /**
   * Adds to an incident; `status: "open"` opens it again. The same call again changes nothing and returns it as it is.
   * @throws BotError INPUT_INVALID for an id that the asker sees no incident of, PRECHECK_FAILED when it may not be said
   * from there or does not fit how the incident stands, and as `open`
   */
  update(saying: Saying, id: string, change: Change): Promise<Incident>;
  /** As `update`; ends the incident, at `change.resolvedAt` or now. */
  resolve(saying: Saying, id: string, change: Change): Promise<Incident>;
  /** The incident that this very call has written to, or undefined; `id` for what is no opening. */
  written(
    saying: Pick<Saying, "thread" | "call" | "at">,
    id?: string,
  ): Promise<Incident | undefined>;
  /** @throws BotError INPUT_INVALID for an id that the viewer sees no incident of; names near ones */
  get(id: string, viewer: Viewer): Promise<Incident>;
  /** Newest begin first. */
  list(filter: Filter, viewer: Viewer): Promise<Incident[]>;
  /** Best match first; all words, their beginnings and slight misspellings, in any text of the incident. */
  search(text: string, viewer: Viewer): Promise<Incident[]>;
  stats(period: Period, viewer: Viewer): Promise<Stats>;
}
