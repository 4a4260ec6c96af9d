import type { People, Membership } from "../core/people.ts";
import type { Approvers, Entry } from "../core/entry.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { countPeople, mayBeSame } from "../core/people.ts";
import { isGroup } from "./requester.ts";

/** What of a proposal says who may decide on it. */
export type VotingRule = Pick<Entry<"action_proposed">, "approvers" | "barred" | "quorum">;

export type Eligibility = { eligible: true; basis: string } | Refused;

export interface Refused {
  eligible: false;
  because: Ineligible;
}

/**
 * `asked`: they asked for it or edited it; `maybe_asked`: they may be who did, on another platform; `unlisted`: they were not
 * among the approvers when it was asked; `left_group`: they are no longer in the group that may approve; else what they are
 * here, which may not decide.
 */
type Ineligible = "asked" | "maybe_asked" | "unlisted" | "left_group" | Membership;

/** Where a decision is asked for: the thread, who is there, and whose the accounts are. */
export interface Place {
  key: JournalKey;
  people: People;
  personOf(account: string): string;
}

/** Fixes who may approve at the time of asking. References such as `slack:group:S0SRE` become their members of now. */
export async function fixApprovers(
  references: readonly string[] | undefined,
  people: People,
): Promise<Approvers> {
  if (references === undefined) return { kind: "anyone" };
  const groupsOf = new Map<string, string[] | undefined>();
  for (const reference of references) {
    const members = isGroup(reference) ? ((await people.members(reference)) ?? []) : [reference];
    for (const account of members) {
      const groups = groupsOf.get(account);
      // Named as a person once is enough: that right does not hang on a group.
      if (!isGroup(reference)) groupsOf.set(account, undefined);
      else if (!groupsOf.has(account)) groupsOf.set(account, [reference]);
      else groups?.push(reference);
    }
  }
  const accounts = [...groupsOf].map(([account, groups]) =>
    groups === undefined ? { account } : { account, groups },
  );
  return { kind: "listed", accounts };
}

/**
 * May this account decide on the proposal now? Asked at the vote and again at dispatch. What the proposal itself answers
 * needs no look-up.
 * @throws what a look-up throws: that is neither yes nor no, so whoever asks waits and asks again
 */
export async function checkEligible(
  account: string,
  { approvers, barred }: VotingRule,
  { key, people, personOf }: Place,
): Promise<Eligibility> {
  const no = (because: Ineligible): Refused => ({ eligible: false, because });
  // Both sides as `people:` is now, whatever it was when they asked; older versions stored the people.
  const person = personOf(account);
  if (barred.some((each) => each === account || personOf(each) === person)) {
    return no("asked");
  }
  if (barred.some((each) => mayBeSame(personOf(each), person))) {
    return no("maybe_asked");
  }
  const isListed = approvers.kind === "listed";
  const listed = isListed ? approvers.accounts.find((each) => each.account === account) : undefined;
  if (isListed && listed === undefined) return no("unlisted");
  const standing = await people.membership(account, key);
  if (standing !== "member" && !(isListed && standing === "outsider")) {
    return no(standing);
  }
  if (listed === undefined) return { eligible: true, basis: "member" };
  if (listed.groups === undefined) return { eligible: true, basis: "named" };
  for (const group of listed.groups) {
    if ((await people.members(group))?.includes(account)) return { eligible: true, basis: group };
  }
  return no("left_group");
}

/**
 * True when nobody but those who asked could approve it here, such as in a direct message: then it is not theirs alone to
 * approve. False where the place's people cannot be listed.
 * @throws what a look-up throws
 */
export async function isAlone(
  approvers: Approvers,
  requesters: readonly string[],
  place: Place,
): Promise<boolean> {
  const asked = new Set(requesters.map(place.personOf));
  const isOther = (account: string) => !asked.has(place.personOf(account));
  const here = await place.people.everyone(place.key);
  if (here !== undefined && !here.some(isOther)) return true;
  return (await countEligible({ approvers, barred: [], quorum: 1 }, place, isOther)) === 0;
}

/**
 * How many different people could approve it now, of those that `isMeant`; undefined when the thread's people cannot be
 * listed. Counted up to the quorum: a large channel is not asked about one by one.
 * @throws what a look-up throws that was needed to reach the quorum
 */
export async function countEligible(
  electorate: VotingRule,
  place: Place,
  isMeant: (account: string) => boolean = () => true,
): Promise<number | undefined> {
  const { approvers } = electorate;
  const accounts =
    approvers.kind === "listed"
      ? approvers.accounts.map((each) => each.account)
      : await place.people.everyone(place.key);
  if (accounts === undefined) return undefined;
  const found = new Set<string>();
  const failures: unknown[] = [];
  for (const account of accounts.filter(isMeant)) {
    if (countPeople(found) >= electorate.quorum) return countPeople(found);
    const checked = await checkEligible(account, electorate, place).catch((error: unknown) => {
      failures.push(error);
      return { eligible: false };
    });
    if (checked.eligible) found.add(place.personOf(account));
  }
  // Too few, but somebody could not be looked up.
  if (countPeople(found) < electorate.quorum && failures.length > 0) throw failures[0];
  return countPeople(found);
}
