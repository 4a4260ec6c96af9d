import type { People } from "../adapters/adapter.ts";
import type { Approvers, Entry } from "../core/entry.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { isGroup } from "./policy.ts";

/** What of a proposal says who may decide on it. */
export type Electorate = Pick<Entry<"action_proposed">, "approvers" | "barred" | "quorum">;

export type Eligibility = { eligible: true; basis: string } | { eligible: false; why: string };

/**
 * The person behind an account. Accounts stand for themselves: nothing says yet that two of them are one human, so
 * accounts never add up unless they are the same.
 */
export function personOf(account: string): string {
  return account;
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

/** May this account decide on the proposal now? Asked at the vote and again at dispatch. Fails closed. */
export async function checkEligible(
  account: string,
  { approvers, barred }: Electorate,
  people: People,
): Promise<Eligibility> {
  const no = (why: string): Eligibility => ({ eligible: false, why });
  if (barred.includes(personOf(account))) {
    return no("who asked for an action or edited it may not approve it");
  }
  const standing = await people.standing(account).catch(() => "unknown" as const);
  if (standing !== "member") return no(`this account's standing is "${standing}", not "member"`);
  if (approvers.kind === "anyone") return { eligible: true, basis: "member" };
  const listed = approvers.accounts.find((each) => each.account === account);
  if (listed === undefined) return no("this account was not among the approvers when it was asked");
  if (listed.groups === undefined) return { eligible: true, basis: "named" };
  for (const group of listed.groups) {
    if ((await people.members(group))?.includes(account)) return { eligible: true, basis: group };
  }
  return no("this account is no longer in the group that may approve");
}

/** How many different people could approve it now; undefined when the thread's people cannot be listed. */
export async function countEligible(
  electorate: Electorate,
  people: People,
  key: JournalKey,
): Promise<number | undefined> {
  const { approvers } = electorate;
  const accounts =
    approvers.kind === "listed"
      ? approvers.accounts.map((each) => each.account)
      : await people.everyone(key);
  if (accounts === undefined) return undefined;
  const found = new Set<string>();
  for (const account of accounts) {
    const { eligible } = await checkEligible(account, electorate, people);
    if (eligible) found.add(personOf(account));
  }
  return found.size;
}
