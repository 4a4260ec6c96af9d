import * as z from "zod";
import type { NameForm, PlatformNames } from "../core/name-forms.ts";
import type { Membership } from "../core/people.ts";

/** Whom a call is made for, and how watchkeeper.yaml names such people: by account, group or membership. */

/** Somebody whose words led to a call, as the platform knows them now. */
export interface Requester {
  account: string;
  membership: Membership;
  /** The account's groups, of those that the configuration names. */
  groups: readonly string[];
  /** A bot that the configuration lists: it may have systems read. */
  isListed?: true;
}

const MEMBERSHIPS = ["member", "outsider", "guest", "bot", "deactivated", "unknown"] as const;

/** The forms of names that rules may have, for the platforms that there are. */
export interface NameForms {
  readonly account: z.ZodType<string, string>;
  readonly approver: z.ZodType<string, string>;
  readonly requester: z.ZodType<string, string>;
  /** A channel as its threads' keys begin, or `*`. */
  readonly channel: z.ZodType<string, string>;
  /** What names requesters and channels, for mistakes in configuration. */
  readonly expected: { readonly requester: string; readonly channel: string };
  /** The forms of accounts and channels in Markdown, for documentation. */
  readonly listed: { readonly account: string; readonly channel: string };
}

/** Makes the forms of what each platform says of its names; mistakes list them in that order. */
export function createNameForms(platforms: readonly PlatformNames[]): NameForms {
  const accounts = platforms.map(({ account }) => account);
  const approvers = platforms.flatMap(({ group, account }) => [...(group ? [group] : []), account]);
  const channels = [
    ...platforms.flatMap((platform) => platform.channels),
    { shown: "*", pattern: /^\*$/ },
  ];
  const requester = `expected ${listOf(approvers)}; or a membership: ${MEMBERSHIPS.join(", ")}`;
  const channel = `expected ${listOf(channels)}`;
  return {
    account: textOf(accounts, `expected ${listOf(accounts)}`),
    approver: textOf(
      approvers,
      `expected ${listOf(approvers)}; leave approvers out to let every full member of the channel approve`,
    ),
    requester: z.union([z.enum(MEMBERSHIPS), textOf(approvers, requester)], requester),
    channel: textOf(channels, channel),
    expected: { requester, channel },
    listed: { account: codeListOf(accounts), channel: codeListOf(channels) },
  };
}

function textOf(forms: readonly NameForm[], expected: string) {
  return z.string().refine((text) => forms.some(({ pattern }) => pattern.test(text)), expected);
}

function listOf(forms: readonly NameForm[]): string {
  const quoted = forms.map(({ shown }) => JSON.stringify(shown));
  return `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}, with ids, not names`;
}

function codeListOf(forms: readonly NameForm[]): string {
  return forms.map(({ shown }) => `\`${shown}\``).join(", ");
}

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
