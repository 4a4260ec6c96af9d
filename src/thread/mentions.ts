import { transportOf } from "../core/journal-key.ts";
import { isAgent } from "../core/people.ts";
import type { Action } from "./action.ts";

/** Of one platform in one message; more is noise. */
const MAX_MENTIONS = 10;

/**
 * The accounts and groups that a card asks, as its rule names them, without those who may not approve it or have decided.
 * Where anyone may, nobody is mentioned.
 */
export function approversAsked({ proposal, votes }: Action): string[] {
  const { approvers, barred } = proposal;
  if (approvers.kind === "anyone") return [];
  const done = new Set([...barred, ...votes.map(({ account }) => account)]);
  const left = approvers.accounts.filter(({ account }) => !done.has(account));
  return mentionable(left.flatMap(({ account, groups }) => groups ?? [account]));
}

/** Those who asked for an action, to be told what became of it; without who decided it, on whichever account. */
export function askersOf(
  { askers }: Pick<Action, "askers">,
  deciders: readonly string[],
  personOf: (account: string) => string,
): string[] {
  const decided = new Set(deciders.map(personOf));
  const told = [...askers].filter((asker) => !isAgent(asker) && !decided.has(personOf(asker)));
  return mentionable(told);
}

/** So many of them as one message mentions. */
export function mentionable(references: readonly string[]): string[] {
  const byPlatform = Map.groupBy(new Set(references), transportOf);
  return [...byPlatform.values()].flatMap((some) => some.slice(0, MAX_MENTIONS));
}

/** The rule names each of these as an approver, too, and nothing bars them. */
export function mayAllApprove(
  { approvers, barred }: Action["proposal"],
  references: readonly string[],
): boolean {
  if (approvers.kind === "anyone") return false;
  const named = approvers.accounts.flatMap(({ account, groups }) => groups ?? [account]);
  return references.every((each) => named.includes(each) && !barred.includes(each));
}
