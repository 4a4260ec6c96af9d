/** Durations in ms; `p90` by nearest rank: the smallest one that nine in ten do not exceed. */
export interface Spread {
  count: number;
  mean: number;
  median: number;
  p90: number;
}

/** A number with the newest of its incidents. */
export interface Numbered<T> {
  name: string;
  value: number;
  newest: T[];
}

export interface Numbers<T> {
  /** Those that are not 0, in the order in which they are shown. */
  counts: Numbered<T>[];
  /** By name; those that have something to count. */
  spreads: Readonly<Record<string, Spread>>;
  /** What was asked for, the newest beginning first: all of it is counted. */
  which: { count: number; found: T[] } | undefined;
}

export interface NumbersAsked {
  /** Time that has not come counts for nothing, ms since 1970. */
  now: number;
  /** The number whose incidents are listed. */
  which?: string | undefined;
  /** So many of them. */
  listed: number;
  /** The parts of the period that are counted one by one, in order; default none. */
  bins?: readonly Bin[] | undefined;
}

export type BinUnit = "day" | "week" | "month" | "year";

/** A part of a period. The names of its numbers begin with its own: `day:2026-11-10`, `day:2026-11-10:sev2`, `day:2026-11-10:mttr`. */
export interface Bin {
  name: string;
  /** ms since 1970; it ends where the next one begins, the last one with the period. */
  from: number;
}
