import type { ArgumentKind } from "../core/canonical.ts";
import type { Effect, JsonObject } from "../core/entry.ts";
import type { DeniedBy } from "../core/entry-fields.ts";
import { escalationOf } from "./escalation.ts";
import { argumentMatches, namesPlace } from "./matching.ts";
import { globMatches } from "../core/glob.ts";
import type { ApprovalPolicy, Rule } from "./policy-form.ts";
import { isNamed, type Requester } from "./requester.ts";
import { DEFAULT_EXPIRY_MINUTES, itemsOf } from "./rule-fields.ts";

/** Which call needs whose approval: the pure decision over the `approvals` part of watchkeeper.yaml. */

/** A call with its checked arguments, defaults filled in. */
export interface PolicyCall {
  tool: string;
  effect: Effect;
  args: JsonObject;
  /** True if it changes only this program's own records (`Tool.own`). */
  own?: boolean | undefined;
  /** True if whoever asked for it may not approve it (`Tool.byOthers`). */
  byOthers?: boolean | undefined;
  /** True if access demands an approval (`decideAccess`), whatever policy says. */
  held?: boolean | undefined;
  /** Whose words the call follows from. If nobody is known, a rule's `requester` can only hold the call up. */
  requesters?: readonly Requester[] | undefined;
  /** What the arguments name (`Tool.kinds`); rules hold for every spelling. */
  kinds?: Kinds | undefined;
  /** The arguments as this machine reads them (`Tool.meant`), in every form that a rule may name. */
  meant?: readonly JsonObject[] | undefined;
}

type Kinds = Readonly<Record<string, ArgumentKind>>;

export type Decision =
  /**
   * `rule` names what allowed it, for the record. `byRule`: a configured rule did, not a default; `named`: that rule names
   * exactly the place, a URL or a host.
   */
  | { kind: "allow"; rule: string; byRule?: true; named?: true }
  | { kind: "deny"; why: string; by?: DeniedBy }
  | Ask;

export interface Ask {
  kind: "ask";
  /** True if a rule asks, not a default. */
  byRule?: true;
  /** Accounts and groups as written; undefined: every full member of the thread. */
  approvers: string[] | undefined;
  quorum: number;
  expiresInMinutes: number;
  /** Also for people who edited the arguments: an editor counts as a requester. */
  requesterMayApprove: boolean;
  /** Whom to turn to when too few people who may approve exist. */
  escalation: string | undefined;
  /** Accounts and groups that are mentioned after so long, and the pager's service whose people are paged. */
  escalate?: ReturnType<typeof escalationOf>;
  /** A rule has it typed what is approved. */
  confirm?: "typed" | undefined;
  /** False: an approval is for one call. */
  grants?: boolean | undefined;
  /** Why the card exists although the rules alone would not ask: a sentence for the card. */
  why?: string;
}

/** What a card needs if no rule says more: one full member, within an hour. */
export function plainAsk(terms: Pick<Ask, "requesterMayApprove"> & Partial<Pick<Ask, "why">>): Ask {
  return {
    kind: "ask",
    approvers: undefined,
    quorum: 1,
    expiresInMinutes: DEFAULT_EXPIRY_MINUTES,
    escalation: undefined,
    ...terms,
  };
}

/**
 * What policy says about a call: a deny rule anywhere wins, then the first matching rule, then the default for the call's
 * effect. If that default would ask, a write to this program's own records is still allowed. A call that access holds asks
 * in any case, and its requesters may not approve it unless a rule here says so. For a single person (the terminal), pass
 * the policy with `singleOperator: true`.
 */
export function decidePolicy(policy: ApprovalPolicy, call: PolicyCall): Decision {
  const denying = policy.rules.findIndex((one) => one.decide === "deny" && covers(one, call));
  const index =
    denying >= 0 ? denying : policy.rules.findIndex((candidate) => covers(candidate, call));
  const found = policy.rules[index];
  const fallback = policy.default[call.effect];
  const isOwn = !found && call.own === true && call.effect === "write" && fallback === "ask";
  const decided = found?.decide ?? (isOwn ? "allow" : fallback);
  const decision = decided === "allow" && call.held === true ? "ask" : decided;
  const name = found
    ? `rule ${index + 1} of approvals.rules`
    : `approvals.default.${call.effect} (no rule matches${isOwn ? "; it changes only our own records" : ""})`;
  if (decision === "allow") {
    const named = found !== undefined && namesItsPlace(found, call.kinds ?? {});
    return { kind: "allow", rule: name, ...(found && { byRule: true }), ...(named && { named }) };
  }
  if (decision === "deny") {
    const why = `${name} denies this call of ${call.tool}`;
    return { kind: "deny", why, by: "approvals.rules" };
  }
  const plain = plainAsk({
    requesterMayApprove:
      policy.singleOperator ||
      (call.effect !== "destructive" && call.held !== true && call.byOthers !== true),
  });
  // An allow rule did not ask; access did.
  if (found?.decide !== "ask") return plain;
  const { approvers, quorum, expiresInMinutes, requesterMayApprove, confirm, grants } = found;
  const escalate = escalationOf(found);
  return {
    kind: "ask",
    byRule: true,
    approvers: approvers && [...approvers],
    quorum: quorum ?? plain.quorum,
    expiresInMinutes: expiresInMinutes ?? plain.expiresInMinutes,
    requesterMayApprove: requesterMayApprove ?? plain.requesterMayApprove,
    escalation: found.escalation === undefined ? undefined : [found.escalation].flat().join(", "),
    ...(escalate !== undefined && { escalate }),
    ...(confirm !== undefined && { confirm }),
    ...(grants !== undefined && { grants }),
  };
}

function covers(one: Rule, call: PolicyCall): boolean {
  const globs = itemsOf(one.match.tool);
  const { effect: wanted } = one.match;
  if (one.decide === "allow" && call.effect === "destructive" && !globs.includes(call.tool)) {
    return false;
  }
  return (
    (wanted === undefined || wanted === call.effect) &&
    requesterMatches(one, call) &&
    (globs.length === 0 || globs.some((glob) => globMatches(glob, call.tool))) &&
    argumentsMatch(one, call)
  );
}

/** A rule that allows must name everybody who asks; a rule that holds a call up, one of them. */
function requesterMatches(
  { decide: decision, match: { requester } }: Rule,
  { requesters = [] }: PolicyCall,
): boolean {
  if (requester === undefined) return true;
  const isMeant = (each: Requester) => isNamed(itemsOf(requester), each);
  if (decision !== "allow") return requesters.length === 0 || requesters.some(isMeant);
  return requesters.length > 0 && requesters.every(isMeant);
}

/**
 * A rule that holds a call up may match the written argument or its meaning. A rule that allows matches the meaning if it
 * is known for an argument with a kind: for a path the file, not the link to it.
 */
function argumentsMatch(one: Rule, call: PolicyCall): boolean {
  const { args, kinds = {}, meant = [] } = call;
  const strict = one.decide === "allow";
  return Object.entries(one.match.args ?? {}).every(([name, wanted]) => {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    const isKnown = meant.length > 0 && kind !== undefined;
    const given = strict ? (isKnown ? meant : [args]) : [args, ...meant];
    return given.some((each) => {
      const value = Object.hasOwn(each, name) ? each[name] : undefined;
      return value !== undefined && argumentMatches(one.decide, wanted, value, kind);
    });
  });
}

function namesItsPlace({ match: { args = {} } }: Rule, kinds: Kinds): boolean {
  return Object.entries(args).some(([name, wanted]) => namesPlace(kinds[name], wanted));
}
