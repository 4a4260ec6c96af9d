import type { Actor, Content, Severity } from "../core/entry.ts";
import type { IncidentStatus } from "../core/incident-status.ts";
import type { Viewer } from "../core/viewer.ts";
import type { Numbers, NumbersAsked } from "./numbered.ts";
import type { Period } from "./period.ts";

export type Change = Content<"incident">["change"];

/** A message of the incident's thread that somebody pinned: quoted, and not verified. */
export type Pin = NonNullable<Change["pin"]>;

/** The times of an incident. */
export const TIMES = [
  "startedAt",
  "detectedAt",
  "acknowledgedAt",
  "mitigatedAt",
  "resolvedAt",
] as const;
export type TimeName = (typeof TIMES)[number];

export type KnownBy = NonNullable<Change["how"]>;
type Certainty = NonNullable<Change["certainty"]>;
/** A group of alerts of the incident's thread, as it was told last. */
export type AlertFact = NonNullable<Change["alert"]>;
/** An action of the incident's thread: all that is known of it. */
export type Acted = NonNullable<Change["acted"]>;

/** Who does something, since when. */
export interface Role {
  role: string;
  name: string;
  since: number;
}

export interface FollowUp {
  /** `f2` */
  name: string;
  text: string;
  owner: string | undefined;
  /** A day, such as `2026-12-01`. */
  due: string | undefined;
  state: "open" | "done" | "dropped";
}

/** Since then it stands so, until the next. */
export interface Spell {
  status: IncidentStatus;
  from: number;
}

export interface Said {
  /** The store's time, ms since 1970. */
  at: number;
  actor: Actor;
  link: string | undefined;
  /** True if an agent said it, or a model after reading outside text: nobody verified it. */
  outside: boolean;
  change: Change;
}

/** One incident, folded from its journal. Times are ms since 1970. */
export interface Incident {
  id: string;
  /** The private place that it belongs to; undefined: everyone of its tenant may read it. Fixed when it is opened. */
  audience: string | undefined;
  /** Where it was opened (`tenantOf`); undefined: in a place without a tenant, which is private. */
  tenant: string | undefined;
  link: string | undefined;
  /** The journal key of the thread it was opened in. */
  thread: string;
  title: string;
  severity: Severity | undefined;
  services: string[];
  status: IncidentStatus;
  /** When it began: when somebody said, else when it was opened. */
  startedAt: number;
  detectedAt: number | undefined;
  acknowledgedAt: number | undefined;
  /** Undefined while it hurts, also after it was opened again. */
  mitigatedAt: number | undefined;
  /** Undefined while it is not over, also after it was opened again. */
  resolvedAt: number | undefined;
  /** How its times are known. */
  known: Readonly<Partial<Record<TimeName, KnownBy>>>;
  /** How it stood when: oldest first, each begins no earlier than the one before. */
  spells: readonly Spell[];
  /** Whom it hurts, and how. */
  impact: string | undefined;
  /** After how many minutes without a word its thread is reminded; 0: never; undefined: as is set for its severity. */
  updateEvery: number | undefined;
  cause: string | undefined;
  /** How sure that is. */
  certainty: Certainty | undefined;
  /** Where it is shown: addresses, or calls of the thread. */
  evidence: readonly string[];
  actions: string[];
  /** Who does what now; one person each. */
  roles: readonly Role[];
  followUps: readonly FollowUp[];
  alerts: readonly AlertFact[];
  acted: readonly Acted[];
  /** It was taken over from elsewhere, with its history. */
  isImported: boolean;
  /** In the order in which they were pinned. */
  pins: Pin[];
  /** Everything that people said about it, oldest first. */
  history: Said[];
}

export interface Saying extends Viewer {
  actor: Actor;
  /** The thread's journal key and the call's id in it. Together they identify the statement, however often it is repeated. */
  thread: string;
  call: string;
  link: string | undefined;
  /** True if an agent says it, or a model after reading outside text. */
  outside?: boolean | undefined;
  /** When the call was started on the store's clock, ms since 1970; the same in every repetition. */
  at: number;
}

/** Something that happened in a thread, which the program itself writes into the records of that thread's incidents. */
interface Happened {
  /** The thread's journal key. */
  thread: string;
  link: string | undefined;
  /** The private place that the thread is in now. */
  audience: string | undefined;
  /** Names it within the thread: told again, it changes nothing. */
  fact: string;
  /** The store's time, ms since 1970. */
  at: number;
}

/** A message as it stands now; without text it was taken away. */
interface Followed {
  message: string;
  text: string | undefined;
  /** The ids of those that its thread shows. */
  incidents: readonly string[];
}

/** Which incidents to list. A field that is left out matches any. */
export interface Filter {
  /** `open`: not over, so also `mitigated`. */
  status?: IncidentStatus | undefined;
  severity?: Severity | undefined;
  service?: string | undefined;
  /** They began in it. */
  period?: Period | undefined;
  /** Something was said of them between these times, or may have been: from their first word to their last, both included. */
  saidIn?: { from: number; to: number } | undefined;
  /** The address of the thread that they were opened in. */
  link?: string | undefined;
  /** No more than so many. */
  limit?: number | undefined;
}

/** Durations in ms; undefined if there is nothing to count. */
export interface Duration {
  count: number;
  mean: number | undefined;
  median: number | undefined;
}

export interface Stats {
  /** Began in the period. */
  opened: number;
  /** Their end lies in the period. */
  resolved: number;
  /** Began before the period's end and have not ended yet. */
  open: number;
  /** Each of these once. */
  all: number;
  /** The newest of all of these, as many as were asked for. */
  newest: Incident[];
  /** Of `opened`, worst first; undefined: nobody said how severe. Only severities that occur. */
  bySeverity: { severity: Severity | undefined; count: number }[];
  /** Of `opened`, most first, then by name; an incident counts once for each of its services. */
  byService: { service: string; count: number }[];
  /** From beginning to end, of `resolved`. */
  toResolve: Duration;
  /** From beginning to detection, of those in `opened` with a detection time. */
  toDetect: Duration;
  /** The longest of `resolved`. */
  longest: Incident | undefined;
}

/**
 * The record of incidents: one journal each, which only grows. Incidents that a viewer may not see do not exist for them:
 * they change no list, number, order or suggestion. All methods throw what the store throws.
 */
export interface Ledger {
  /**
   * A repeated call opens nothing and returns what the first one opened.
   * @throws BotError INPUT_INVALID if the times contradict each other or lie in the future, TIMEOUT if the store does
   * not say whether it wrote the post
   */
  open(saying: Saying, change: Change & { title: string }): Promise<Incident>;
  /**
   * Adds to an incident; `status: "open"` opens it again. A repeated call changes nothing and returns the incident.
   * @throws BotError INPUT_INVALID if the asker sees no incident with this id, PRECHECK_FAILED if the place may not say
   * it or it does not fit the incident's state, and as `open`
   */
  update(saying: Saying, id: string, change: Change): Promise<Incident>;
  /** As `update`; ends the incident, at `change.resolvedAt` or now. */
  resolve(saying: Saying, id: string, change: Change): Promise<Incident>;
  /**
   * A message of the thread says this now, or is gone: so does the incident's timeline where it was pinned. Repeated, it
   * changes nothing. @throws as `update`
   */
  follow(thread: string, message: Followed, by: Pick<Saying, "call" | "at">): Promise<void>;
  /**
   * The program's own word. `changeOf`: what that changes in the incident as it is; undefined: nothing. What does not fit the record,
   * or may not be read there, is left out. Repeated, it changes nothing. @throws what the store throws
   */
  happened(
    happened: Happened,
    id: string,
    changeOf: (incident: Incident) => Change | undefined,
  ): Promise<void>;
  /** The incident that exactly this call has written to, or undefined. Give `id` unless the call opened it. */
  written(
    saying: Pick<Saying, "thread" | "call" | "at">,
    id?: string,
  ): Promise<Incident | undefined>;
  /** @throws BotError INPUT_INVALID if the viewer sees no incident with this id; names similar ones */
  get(id: string, viewer: Viewer): Promise<Incident>;
  /** Newest beginning first. */
  list(filter: Filter, viewer: Viewer): Promise<Incident[]>;
  /** How many there are, whatever the limit. */
  count(filter: Filter, viewer: Viewer): Promise<number>;
  /**
   * Best match first, some hundreds at the most, and how many there are. All words of the text must occur somewhere in the incident, also as
   * beginnings or slightly misspelled.
   */
  search(
    text: string,
    viewer: Viewer,
    filter?: Filter,
  ): Promise<{ count: number; found: Incident[] }>;
  /** Counts all, and names the newest `listed` of them. */
  stats(period: Period, viewer: Viewer, listed: number): Promise<Stats>;
  /** The other numbers of a period, each with the ids of its newest incidents; `which`: all those of one of them. */
  numbers(
    period: Period,
    viewer: Viewer,
    asked: NumbersAsked,
  ): Promise<
    Omit<Numbers<string>, "which"> & { which: { count: number; found: Incident[] } | undefined }
  >;
}
