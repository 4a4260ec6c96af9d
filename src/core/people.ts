import type { Actor } from "./entry.ts";
import { type JournalKey, transportOf, tryJournalKey } from "./journal-key.ts";

/** One human and the accounts that are theirs, as `people:` in watchkeeper.yaml says. */
export interface KnownPerson {
  name: string;
  accounts: readonly string[];
}

const MAPPED = "person:";

/** The account of agents that ask by HTTP (Model Context Protocol): of whoever has the token. */
export const AGENT = "mcp:agent";

/**
 * An agent asks as a full member does and decides nothing. It is never taken for a person of a platform (`mayBeSame`), and what
 * it names is no place that a person named (`outside.ts`).
 */
export function isAgent(account: string): boolean {
  return account === AGENT;
}

/**
 * Who is behind an account: `person:<name>` where `people:` says so, else the account itself. However many accounts a
 * person uses, they are one requester and one vote.
 */
export function createPersonOf(people: readonly KnownPerson[]): (account: string) => string {
  const known = new Map(
    people.flatMap(({ name, accounts }) =>
      accounts.map((account) => [account, `${MAPPED}${name}`] as const),
    ),
  );
  return (account) => known.get(account) ?? account;
}

/**
 * How many different people these certainly are. Accounts on different platforms that nobody is named for may all be one
 * human's: of those only the platform with the most counts.
 */
export function countPeople(persons: Iterable<string>): number {
  const different = new Set(persons);
  const onPlatform = new Map<string, number>();
  let mapped = 0;
  for (const person of different) {
    if (isMapped(person)) mapped += 1;
    else onPlatform.set(platformOf(person), (onPlatform.get(platformOf(person)) ?? 0) + 1);
  }
  return mapped + Math.max(0, ...onPlatform.values());
}

/**
 * How many different people voted: as `people:` was when each vote was counted, and as it is now, whichever takes more of them
 * for one. What was one human's then or is now has one vote.
 */
export function countVoters(
  votes: readonly { account: string; person: string }[],
  personOf: (account: string) => string,
): number {
  const humans: Set<string>[] = [];
  for (const { account, person } of votes) {
    const names = new Set([account, person, personOf(account)]);
    const same = humans.filter((known) => [...known].some((name) => names.has(name)));
    for (const known of same) for (const name of known) names.add(name);
    humans.splice(0, humans.length, ...humans.filter((known) => !same.includes(known)), names);
  }
  const then = votes.map(({ person }) => person);
  const now = votes.map(({ account }) => personOf(account));
  return Math.min(humans.length, countPeople(then), countPeople(now));
}

/**
 * Who decided something, as it is shown: `Ana (@ana, U07)`. Names are anybody's to choose; the handle and the account's id,
 * which stand last, are not. What only repeats the name is left out.
 */
export function signed({ name, handle, account }: Actor): string {
  const id = account.slice(account.lastIndexOf(":") + 1);
  const marks = [handle === undefined ? "" : `@${handle}`, id].filter((mark) => mark !== "");
  const more = marks.filter((mark) => mark !== name);
  return more.length === 0 ? name : `${name} (${more.join(", ")})`;
}

/** True for a person by name, false for an account that nobody is named for. */
export function isMapped(person: string): boolean {
  return person.startsWith(MAPPED);
}

/**
 * True when nobody can tell that these two are not one human: two platforms, and `people:` names neither. An agent is somebody's
 * only where `people:` says so.
 */
export function mayBeSame(one: string, other: string): boolean {
  if (one === other) return true;
  if (isAgent(one) || isAgent(other)) return false;
  const isUnknown = !isMapped(one) && !isMapped(other);
  return isUnknown && platformOf(one) !== platformOf(other);
}

function platformOf(account: string): string {
  const key = tryJournalKey(account);
  return key === undefined ? account : transportOf(key);
}

/**
 * What a platform says of an account in a thread. Guests, bots and deactivated accounts never decide anything; an outsider
 * is a full member of the workspace who is not in the thread's channel.
 */
export type Membership = "member" | "outsider" | "guest" | "bot" | "deactivated" | "unknown";

/** Answers are at most 60 s old. All throw what the platform throws; whoever asks then permits nothing. */
export interface People {
  membership(account: string, key: JournalKey): Promise<Membership>;
  /** Accounts in a group such as `slack:group:S0SRE`; undefined when the group does not exist. */
  members(group: string): Promise<string[] | undefined>;
  /** Everyone who could take part in this thread; undefined when that cannot be listed. */
  everyone(key: JournalKey): Promise<string[] | undefined>;
  /** What people call an account or a group: `Ana`, `@sre`; undefined where that is not known. Left out where nobody else is. */
  label?(reference: string, key: JournalKey): Promise<string | undefined>;
  /** The IANA time zone that a person has set, such as `Europe/Madrid`; undefined where the platform knows none. */
  timezone(account: string): Promise<string | undefined>;
}
