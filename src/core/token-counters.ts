import type { JournalKey } from "./journal-key.ts";

/** Counters of the tokens that models used on a day in UTC, such as 2026-11-22, as budgets count them (`countedTokens`). */
export const tokenCounter = {
  all: (day: string) => `tokens:${day}`,
  /** What one person's words used. */
  person: (day: string, person: string) => `tokens:${day}:person:${person}`,
  place: (day: string, channel: string) => `tokens:${day}:place:${channel}`,
} as const;

/** Counters of what that cost, in microdollars. */
export const moneyCounter = {
  all: (day: string) => `money:${day}`,
  person: (day: string, person: string) => `money:${day}:person:${person}`,
  place: (day: string, channel: string) => `money:${day}:place:${channel}`,
} as const;

/** Counters of tokens whose price was not known. */
export const unpricedCounter = {
  all: (day: string) => `unpriced:${day}`,
  person: (day: string, person: string) => `unpriced:${day}:person:${person}`,
} as const;

/** What models used, by the program's own counters. */
export interface TokenUse {
  /** What of a counter was used or is set aside (`Journal.used`). */
  used(counter: string): Promise<number>;
  /** Tokens a day of everybody together. */
  perDay: number;
  /** The same in cents; undefined: no limit. */
  centsPerDay?: number | undefined;
  /** What of a day is a person's and their place's there; undefined where there are no shares. May throw as a look-up of people. */
  sharesOf?(key: JournalKey, account: string): Promise<SharesOfDay | undefined>;
}

interface Share {
  tokens: number;
  cents?: number | undefined;
}

/** What one person, and the threads of the place that they ask in, may use in a day. */
interface SharesOfDay {
  /** The place, as its counters name it. */
  place: string;
  ofPerson: Share;
  ofPlace: Share;
}
