import * as z from "zod";
import type { Membership } from "../core/people.ts";

/** Whom a call is made for, and how watchkeeper.yaml names such people: by account, group or membership. */

/** Somebody whose words led to a call, as the platform knows them now. */
export interface Requester {
  account: string;
  membership: Membership;
  /** The account's groups, of those that the configuration names. */
  groups: readonly string[];
}

const MEMBERSHIPS = ["member", "outsider", "guest", "bot", "deactivated", "unknown"] as const;

/** One account, as keys and entries name it. */
export const accountForm = z
  .string()
  .regex(
    /^(?:slack:[TE][A-Z0-9]*:[UW][A-Z0-9]*|discord:\d+|terminal:[^\s:]+)$/,
    'expected "slack:<team>:<user>", "discord:<user>" or "terminal:<name>", with ids, not names',
  );

const ACCOUNT_OR_GROUP =
  /^(?:slack:(?:group:[A-Z0-9]+|[TE][A-Z0-9]*:[UW][A-Z0-9]*)|discord:(?:role:)?\d+|terminal:[^\s:]+)$/;
const ACCOUNTS_AND_GROUPS =
  '"slack:group:<id>", "slack:<team>:<user>", "discord:role:<id>", "discord:<user>" or "terminal:<name>", with ids, not names';

/** An account or a group that may approve. */
export const approverForm = z
  .string()
  .regex(
    ACCOUNT_OR_GROUP,
    `expected ${ACCOUNTS_AND_GROUPS}; leave approvers out to let every full member of the channel approve`,
  );

/** How to write requesters, for mistakes in the configuration. */
export const REQUESTERS = `expected ${ACCOUNTS_AND_GROUPS}; or a membership: ${MEMBERSHIPS.join(", ")}`;

/** An account, a group or a membership. */
export const requesterForm = z.union(
  [z.enum(MEMBERSHIPS), z.string().regex(ACCOUNT_OR_GROUP, REQUESTERS)],
  REQUESTERS,
);

/** True for a reference to many people, who are looked up when a card is made and again at each vote. */
export function isGroup(reference: string): boolean {
  return /^[a-z]+:(?:group|role):/.test(reference);
}

/** True if one of the references names this person, their group or their membership. */
export function isNamed(
  references: readonly string[],
  { account, membership, groups }: Requester,
): boolean {
  return references.some((one) => one === account || one === membership || groups.includes(one));
}
