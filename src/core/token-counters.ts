/** Counters of the tokens that models used on a day in UTC, such as 2026-11-22. */
export const tokenCounter = {
  all: (day: string) => `tokens:${day}`,
  /** What one person's words used. Counted only where people have shares of the day. */
  person: (day: string, person: string) => `tokens:${day}:person:${person}`,
  place: (day: string, channel: string) => `tokens:${day}:place:${channel}`,
} as const;

/** What models used, by the program's own counters. */
export interface TokenUse {
  /** What of a counter was used or is set aside (`Journal.used`). */
  used(counter: string): Promise<number>;
  /** Tokens a day of everybody together. */
  perDay: number;
}
