import { countPeople, mayBeSame, type Membership, type People } from "../core/people.ts";
import type { Approvers, Entry } from "../core/entry.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { isGroup } from "./requester.ts";

/** The part of a proposal that says who may decide on it. */
export type VotingRule = Pick<Entry<"action_proposed">, "approvers" | "barred" | "quorum">;

export type Eligibility = { eligible: true; basis: string } | Refused;

export interface Refused {
  eligible: false;
  because: Ineligible;
}

/**
 * `asked`: they asked for it or edited it; `maybe_asked`: they may be the person who did, on another platform; `unlisted`:
 * they were not among the approvers when the card was made; `left_group`: they left the group that may approve; else a
 * membership that may not decide.
 */
type Ineligible = "asked" | "maybe_asked" | "unlisted" | "left_group" | Membership;

/** The thread of a decision, who is there, and which accounts belong to one person. */
export interface ThreadPeople {
  key: JournalKey;
  people: People;
  personOf(account: string): string;
}

/** Fixes who may approve when a card is made. References such as `slack:group:S0SRE` become their current members. */
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
      // Somebody who is also named as a person keeps the right without the group.
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
 * Whether this account may decide on the proposal now. Checked at the vote and again at dispatch. Looks up only what the
 * proposal itself does not answer.
 * @throws what a look-up throws. That is neither yes nor no: wait and ask again
 */
export async function checkEligible(
  account: string,
  { approvers, barred }: VotingRule,
  { key, people, personOf }: ThreadPeople,
): Promise<Eligibility> {
  const no = (because: Ineligible): Refused => ({ eligible: false, because });
  // Compares by today's `people:`, whatever it said when they asked; older versions stored the persons.
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
  const membership = await people.membership(account, key);
  if (membership !== "member" && !(isListed && membership === "outsider")) {
    return no(membership);
  }
  if (listed === undefined) return { eligible: true, basis: "member" };
  if (listed.groups === undefined) return { eligible: true, basis: "named" };
  for (const group of listed.groups) {
    if ((await people.members(group))?.includes(account)) return { eligible: true, basis: group };
  }
  return no("left_group");
}

/**
 * True if only those who asked could approve it here, such as in a direct message: then they may not approve it alone.
 * False if the thread's people cannot be listed.
 * @throws what a look-up throws
 */
export async function isAlone(
  approvers: Approvers,
  requesters: readonly string[],
  there: ThreadPeople,
): Promise<boolean> {
  const asked = new Set(requesters.map(there.personOf));
  const isOther = (account: string) => !asked.has(there.personOf(account));
  const here = await there.people.everyone(there.key);
  if (here !== undefined && !here.some(isOther)) return true;
  return (await countEligible({ approvers, barred: [], quorum: 1 }, there, isOther)) === 0;
}

/**
 * How many different people for whom `isMeant` is true could approve it now; undefined if the thread's people cannot be
 * listed. Counts only up to the quorum, so that a large channel is not looked up person by person.
 * @throws what a look-up throws, if the quorum was not reached without it
 */
export async function countEligible(
  votingRule: VotingRule,
  there: ThreadPeople,
  isMeant: (account: string) => boolean = () => true,
): Promise<number | undefined> {
  const { approvers } = votingRule;
  const accounts =
    approvers.kind === "listed"
      ? approvers.accounts.map((each) => each.account)
      : await there.people.everyone(there.key);
  if (accounts === undefined) return undefined;
  const found = new Set<string>();
  const failures: unknown[] = [];
  for (const account of accounts.filter(isMeant)) {
    if (countPeople(found) >= votingRule.quorum) return countPeople(found);
    const checked = await checkEligible(account, votingRule, there).catch((error: unknown) => {
      failures.push(error);
      return { eligible: false };
    });
    if (checked.eligible) found.add(there.personOf(account));
  }
  // Too few, but the missing look-up could have added somebody.
  if (countPeople(found) < votingRule.quorum && failures.length > 0) throw failures[0];
  return countPeople(found);
}
