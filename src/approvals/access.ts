import * as z from "zod";
import type { DeniedBy } from "../core/entry-fields.ts";
import { globMatches } from "../core/glob.ts";
import type { ApprovalPolicy, NamedInPolicy } from "./policy-form.ts";
import type { PolicyCall } from "./policy.ts";
import { isGroup, isNamed, type NameForms, type Requester } from "./requester.ts";
import {
  decisionForm,
  effectForm,
  itemsOf,
  oneOrMore,
  TOOL_NAMES,
  toolNames,
} from "./rule-fields.ts";

/**
 * Who may ask for what, and where: the `access` part of watchkeeper.yaml and the pure decision over it. Its rules widen or
 * narrow the built-in ones. `approvals` then says whether the call needs approval. `docs/configuration.md` explains the
 * rules to operators.
 */

/** The yaml's `access` part. Without rules full members may ask for everything, others for what is public. */
export function createAccessPolicy({ requester, channel, expected, listed }: NameForms) {
  const rule = z.strictObject({
    who: oneOrMore(
      z.union([z.literal("*"), requester], expected.requester),
      expected.requester,
    ).describe('An account, a group, a membership, `"*"` for everybody, or a list of these.'),
    channels: oneOrMore(channel, expected.channel)
      .default("*")
      .describe(`${listed.channel}, or a list of these.`),
    tools: toolNames.default("*").describe(TOOL_NAMES),
    effects: oneOrMore(effectForm, "expected read, write or destructive")
      .default([...effectForm.options])
      .describe("`read`, `write`, `destructive`, or a list of these."),
    decide: decisionForm.describe("`allow`, `ask` or `deny`."),
  });
  return z.strictObject({
    rules: z
      .array(rule)
      .default([])
      .describe("Who may ask for what, and where: the first rule that matches decides (below)."),
  });
}

export type AccessPolicy = z.infer<ReturnType<typeof createAccessPolicy>>;
type AccessRule = AccessPolicy["rules"][number];

/** A call, and where somebody asked for it. */
export interface AccessCall extends Pick<PolicyCall, "tool" | "effect" | "own"> {
  /** True if it tells only what everybody here may know (`Tool.open`). */
  open?: boolean | undefined;
  /** The thread's channel, such as `slack:T1:C1`. */
  channel: string;
}

/**
 * `ask`: the call needs approval even if `approvals` would not ask. A denial's `why` is a sentence for people; `by`: a rule says so,
 * not what is built in.
 */
export type Access =
  | { kind: "allow" }
  | { kind: "ask" }
  | { kind: "deny"; why: string; by?: DeniedBy };

/**
 * Decides for all requesters of a call: the least that any of them may. For each the first matching rule decides, else the
 * built-in one. A call without a requester is denied.
 */
export function decideAccess(
  policy: AccessPolicy,
  call: AccessCall,
  requesters: readonly Requester[],
): Access {
  const each = requesters.map((requester) => decideFor(policy, call, requester));
  const denied = each.find(({ kind }) => kind === "deny");
  if (denied !== undefined) return denied;
  if (each.length === 0) return { kind: "deny", why: "Nobody asked for this." };
  return each.some(({ kind }) => kind === "ask") ? { kind: "ask" } : { kind: "allow" };
}

/** The rules that are about somebody in a channel, by their number from 1; for each call the first that covers it decides. */
export function rulesAbout(
  { rules }: AccessPolicy,
  channel: string,
  requester: Requester,
): { number: number; rule: AccessRule }[] {
  return rules
    .map((rule, index) => ({ number: index + 1, rule }))
    .filter(({ rule }) => isAbout(rule, channel, requester));
}

/** The tools that the policy names. */
export function toolsIn({ rules }: AccessPolicy): NamedInPolicy[] {
  return rules.flatMap(({ tools }, index) =>
    [tools].flat().map((tool, i) => ({
      tools: [tool],
      arg: undefined,
      path: ["rules", index, "tools", ...(Array.isArray(tools) ? [i] : [])],
    })),
  );
}

/** The groups that rules of either policy name as people who ask. */
export function groupsIn(access: AccessPolicy, approvals: ApprovalPolicy): string[] {
  const named = [
    ...access.rules.map(({ who }) => who),
    ...approvals.rules.map(({ match }) => match.requester),
  ];
  return named.flatMap(itemsOf).filter(isGroup);
}

function decideFor({ rules }: AccessPolicy, call: AccessCall, requester: Requester): Access {
  const index = rules.findIndex((one) => covers(one, call, requester));
  const decision = rules[index]?.decide;
  if (decision === "deny") {
    const why = `Rule ${index + 1} of access.rules doesn't let those who asked use ${call.tool} here.`;
    return { kind: "deny", why, by: "access.rules" };
  }
  if (decision !== undefined) return { kind: decision };
  if (requester.membership === "member" || call.open === true) return { kind: "allow" };
  if (requester.isListed === true && call.effect === "read") return { kind: "allow" };
  return { kind: "deny", why: accessRefusal(call, requester) };
}

function covers(
  { who, channels, tools, effects }: AccessRule,
  call: AccessCall,
  requester: Requester,
): boolean {
  return (
    isAbout({ who, channels }, call.channel, requester) &&
    [tools].flat().some((glob) => globMatches(glob, call.tool)) &&
    [effects].flat().includes(call.effect)
  );
}

function isAbout(
  { who, channels }: Pick<AccessRule, "who" | "channels">,
  channel: string,
  requester: Requester,
): boolean {
  const people = [who].flat();
  return (
    (people.includes("*") || isNamed(people, requester)) &&
    [channels].flat().some((one) => isIn(channel, one))
  );
}

/** True if a rule's channel names this channel, or its workspace or server. */
function isIn(channel: string, named: string): boolean {
  return named === "*" || channel === named || channel.startsWith(`${named}:`);
}

const KINDS: Readonly<Record<Requester["membership"], string>> = {
  member: "You",
  guest: "Guests",
  outsider: "People who aren't in this channel",
  bot: "Bots",
  deactivated: "Deactivated accounts",
  unknown: "People from outside this server or workspace",
};

function accessRefusal({ effect, own }: AccessCall, { membership }: Requester): string {
  const what =
    own === true ? "change records" : effect === "read" ? "run checks" : "ask for actions";
  return `${KINDS[membership]} can't ${what} here. Ask a full member of this channel.`;
}
