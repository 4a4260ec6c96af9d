import type { Entry } from "../core/entry.ts";

/** What the thread shows in one message for as long as it lives, brought up to date whenever it has changed. */
interface Living<State> {
  /** How it stands. */
  state: State;
  /** The entry that told of it first: its message comes up in that order. */
  readonly openedAt: number;
  /** The newest entry that changed what its message says. */
  touched: number;
  /** Per view its message. */
  readonly shown: Map<string, ShownLiving>;
}

export interface ShownLiving {
  /** Undefined: what is the past there. */
  readonly ref: string | undefined;
  /** The entry as of which it stands there. */
  readonly seq: number;
  /** When that was, ms since 1970, and how many edits came shortly after one another until then. */
  readonly at: number;
  readonly edits: number;
}

/** An incident that was opened in the thread. */
export type ShownIncident = Living<Entry<"incident_state">>;

/** A goal of the thread. */
export interface ShownGoalMessage extends Living<Entry<"goal_started">> {
  /** The newest entry that people wait to see: it was paused, ended or extended, or a card came or was decided. */
  turned: number;
}

/** A group of alerts that the thread is told of. */
export interface ShownAlerts extends Living<Entry<"alert_state">> {
  /** Names of alerts that it was looked into by. */
  readonly triaged: Set<string>;
  /** When the thread was told of it first, ms since 1970. */
  readonly heardAt: number;
  /** How urgent what fired was at most, once people were told of it. */
  pinged: number | undefined;
  /** The entry that said first that all of them are over; undefined: they are not. */
  over: { readonly seq: number; readonly at: number } | undefined;
  /** The newest end that the thread was told in a line of its own, and when. */
  toldOver: { readonly seq: number; readonly at: number } | undefined;
  /** How often they came back after all were over, and when that was last. */
  back: { readonly times: number; readonly at: number } | undefined;
}

/** The message in the channel that the thread began with, as far as it says how alerts stand. Its own place alone has one. */
export interface Root {
  /** What there is to say, and the newest entry that changed that; 0: nothing has to be said. */
  words: string;
  touched: number;
  /** What was shown last. */
  shown: ShownLiving | undefined;
}

/** A silence that a call of the thread's made. */
export interface Silence {
  readonly call: string;
  /** As Alertmanager names it. */
  readonly id: string;
  readonly matchers: readonly string[];
  /** Ms since 1970. */
  readonly since: number;
  readonly until: number;
  /** Its time is over, or it was ended from here. */
  endedAt: number | undefined;
  /** Who asked for it, and who else approved it, by name. */
  readonly by: string | undefined;
  readonly approvedBy: readonly string[];
}

export type LivingMessage = ShownIncident | ShownAlerts | ShownGoalMessage;
