import * as z from "zod";
import type { ArgumentKind } from "../core/canonical.ts";
import type { Effect, JsonObject } from "../core/entry.ts";
import { argumentMatches, globMatches, namesPlace, type Pattern } from "./matching.ts";
import { isGroup, isNamed, type NameForms, type Requester } from "./requester.ts";
import {
  decisionForm,
  effectForm,
  filled,
  itemsOf,
  oneOrMore,
  TOOL_NAMES,
  toolNames,
} from "./rule-fields.ts";

/**
 * Which call needs whose approval: the `approvals` part of watchkeeper.yaml and the pure decision over it. `docs/configuration.md`
 * explains the rules to operators.
 */

/** A week: after that the world has changed too much for an approval to make sense. */
const MAX_EXPIRY_MINUTES = 7 * 24 * 60;

const scalar = z.union([filled, z.number(), z.boolean()]);
const pattern = z.union([scalar, z.array(scalar).min(1)], {
  error:
    'expected a text such as "git log *", a number, true or false, or a list of these, one per element; none of them empty',
});

function createMatch({ requester, expected }: NameForms) {
  return z
    .strictObject({
      tool: toolNames.optional().meta({ description: TOOL_NAMES, unset: "any" }),
      effect: effectForm
        .optional()
        .meta({ description: "`read`, `write` or `destructive`.", unset: "any" }),
      requester: oneOrMore(requester, expected.requester, "is empty; leave it out for everybody")
        .optional()
        .meta({
          description: "Who asks: an account, a group, a membership (below), or a list of these.",
          unset: "anybody",
        }),
      args: z
        .record(z.string(), pattern)
        .refine((args) => Object.keys(args).length > 0, "names no argument; leave args out instead")
        .optional()
        .meta({
          description:
            "Argument names, each with a pattern; all must match. An argument that the call does not have never matches.",
          unset: "any",
        }),
    })
    .refine(
      (fields) => Object.keys(fields).length > 0,
      'says nothing to match; for every call write tool: "*"',
    );
}

/** What only a rule that asks has. */
function createTerms({ approver }: NameForms) {
  return {
    approvers: z
      .array(approver)
      .min(
        1,
        "is empty, so nobody could ever approve; leave it out to let every full member approve",
      )
      .optional()
      .meta({
        description:
          "With `ask`: who may approve, by id. Without it: every full member of the channel. An empty list is a mistake.",
        unset: "everyone",
      }),
    quorum: z.int().min(1).optional().meta({
      description: "With `ask`: how many different people must approve.",
      unset: "`1`",
    }),
    expiresInMinutes: z
      .int()
      .min(1)
      .max(MAX_EXPIRY_MINUTES)
      .optional()
      .meta({
        description: `With \`ask\`: 1 to ${MAX_EXPIRY_MINUTES} (a week). A call that is not approved by then never runs.`,
        unset: "`60`",
      }),
    requesterMayApprove: z.boolean().optional().meta({
      description: "With `ask`: whether people who asked for the call or edited it may approve it.",
      unset: "see below",
    }),
    confirm: z.literal("typed").optional().meta({
      description:
        "With `ask`: `typed`: whoever approves has to type the name of what is changed, instead of pressing alone.",
      unset: "only where the tool asks for it, as for what deletes data",
    }),
    grants: z.boolean().optional().meta({
      description:
        'With `ask`: `false`: its approval is for one call, and "the same for 30 minutes" is not offered.',
      unset: "`approvals.grants`",
    }),
    escalation: z
      .union([filled, z.array(approver).min(1, "is empty; leave it out instead")], {
        error: "expected a list of accounts or groups, such as [slack:group:S0DUTY]",
      })
      .optional()
      .meta({
        description:
          "With `ask`: accounts and groups that are mentioned when an action has waited for some time. That gives nobody the right to approve it. A text (as in 0.4) is only said when too few people can approve.",
        unset: "none",
      }),
    escalateAfterMinutes: z.int().min(1).max(MAX_EXPIRY_MINUTES).optional().meta({
      description: "With `escalation`: when that is, in minutes; less than `expiresInMinutes`.",
      unset: "a quarter of `expiresInMinutes`",
    }),
  };
}

function createRule(forms: NameForms) {
  const terms = createTerms(forms);
  return z
    .strictObject({
      match: createMatch(forms),
      decide: decisionForm.describe("`allow`, `ask` or `deny`."),
      ...terms,
    })
    .superRefine((fields, ctx) => {
      const say = (path: string[], message: string) => {
        ctx.addIssue({ code: "custom", path, message });
      };
      if (fields.decide !== "ask") {
        for (const key of Object.keys(fields).filter((name) => Object.hasOwn(terms, name))) {
          say([key], `only a rule with decide: ask has this; this one says ${fields.decide}`);
        }
      }
      const {
        approvers = [],
        escalation,
        escalateAfterMinutes = 0,
        expiresInMinutes = 60,
      } = fields;
      if (escalateAfterMinutes > 0 && !Array.isArray(escalation))
        say(["escalateAfterMinutes"], "needs escalation: a list of accounts or groups");
      if (escalateAfterMinutes >= expiresInMinutes)
        say(["escalateAfterMinutes"], "is not before the action expires");
      const countable = approvers.length > 0 && !approvers.some(isGroup);
      if (countable && new Set(approvers).size < (fields.quorum ?? 1)) {
        say(["quorum"], "is more than the accounts under approvers, so it could never be reached");
      }
      const named = itemsOf(fields.match.tool).some((glob) => !glob.includes("*"));
      if (fields.decide === "allow" && fields.match.effect === "destructive" && !named) {
        say(
          ["decide"],
          "allows destructive calls of no tool in particular; name the tool in match",
        );
      }
    });
}

/**
 * The `approvals` part of the yaml. Everything has a default; together the defaults are the built-in policy.
 * `default.destructive` may not be `allow`: a default looks at no arguments and would let every destructive tool of every
 * later version run unseen. For the same reason an allow rule covers a destructive call only if it has the tool's whole
 * name.
 */
export function createApprovalPolicy(forms: NameForms) {
  return z.strictObject({
    default: z
      .strictObject({
        read: decisionForm
          .default("allow")
          .describe("What happens to a read that no rule matches: `allow`, `ask` or `deny`."),
        write: decisionForm.default("ask").describe("The same for a write."),
        destructive: z
          .enum(["ask", "deny"], {
            error: "expected ask or deny; to let one destructive call through, write an allow rule",
          })
          .default("ask")
          .describe(
            "The same for a destructive call: `ask` or `deny`. Never `allow`: write a rule for the one call.",
          ),
      })
      .prefault({}),
    singleOperator: z
      .boolean()
      .default(false)
      .describe(
        "There is only one person, who may approve what they asked for, destructive calls included.",
      ),
    grants: z
      .strictObject({
        uses: z
          .int()
          .min(0)
          .max(20)
          .default(5)
          .describe(
            "How often one approval may allow the very same write again, if the approver grants that. `0`: never.",
          ),
        minutes: z
          .int()
          .min(1)
          .max(240)
          .default(30)
          .describe("How long such a grant holds, from the approval on."),
      })
      .prefault({}),
    breakGlass: z
      .strictObject({
        who: z
          .array(forms.approver)
          .min(1, "is empty; leave breakGlass out instead")
          .describe(
            "Who may, alone and with a written reason, run what is frozen or lacks approvals. A `deny` rule still wins.",
          ),
      })
      .optional()
      .describe("Nobody may, unless this is set."),
    rules: z
      .array(createRule(forms))
      .default([])
      .describe(
        "The first rule that matches decides; a `deny` anywhere wins over all of them and over every approval.",
      ),
  });
}

export type ApprovalPolicy = z.infer<ReturnType<typeof createApprovalPolicy>>;
type Rule = z.infer<ReturnType<typeof createRule>>;

/** A call with its checked arguments, defaults filled in. */
export interface PolicyCall {
  tool: string;
  effect: Effect;
  args: JsonObject;
  /** True if it changes only this program's own records (`Tool.own`). */
  own?: boolean | undefined;
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
  | { kind: "deny"; why: string }
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
  /** Accounts and groups that are mentioned after so long. */
  escalate?: { to: string[]; afterMinutes: number } | undefined;
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
    expiresInMinutes: 60,
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
  if (decision === "deny") return { kind: "deny", why: `${name} denies this call of ${call.tool}` };
  const plain = plainAsk({
    requesterMayApprove:
      policy.singleOperator || (call.effect !== "destructive" && call.held !== true),
  });
  // An allow rule did not ask; access did.
  if (found?.decide !== "ask") return plain;
  const { approvers, quorum, expiresInMinutes, requesterMayApprove, confirm, grants } = found;
  const escalate = escalationOf(found, plain);
  return {
    kind: "ask",
    byRule: true,
    approvers: approvers && [...approvers],
    quorum: quorum ?? plain.quorum,
    expiresInMinutes: expiresInMinutes ?? plain.expiresInMinutes,
    requesterMayApprove: requesterMayApprove ?? plain.requesterMayApprove,
    escalation: escalate?.to.join(", ") ?? found.escalation?.toString(),
    ...(escalate !== undefined && { escalate }),
    ...(confirm !== undefined && { confirm }),
    ...(grants !== undefined && { grants }),
  };
}

/** Without a time of its own it comes before the first reminder. */
function escalationOf(
  { escalation, escalateAfterMinutes, expiresInMinutes }: Rule,
  plain: Ask,
): Ask["escalate"] {
  if (!Array.isArray(escalation)) return undefined;
  const quarter = Math.max(1, Math.floor((expiresInMinutes ?? plain.expiresInMinutes) / 4));
  return { to: escalation, afterMinutes: escalateAfterMinutes ?? quarter };
}

/** Something in a policy that only the tools can confirm: a tool (`arg` undefined), or an argument of `tools`. */
export interface Mention {
  /** Tool names or globs, as written; empty: any tool. */
  tools: string[];
  arg: string | undefined;
  /** The pattern with which an allow rule lets the argument through. */
  allows?: Pattern;
  /** Its path below the policy. */
  path: (string | number)[];
}

/** Everything the policy names, so that startup can report a tool or an argument that does not exist. */
export function mentions(policy: ApprovalPolicy): Mention[] {
  return policy.rules.flatMap((one, index) => {
    const path = ["rules", index, "match"];
    const tools = itemsOf(one.match.tool);
    return [
      ...tools.map((tool) => ({ tools: [tool], arg: undefined, path: [...path, "tool"] })),
      ...Object.entries(one.match.args ?? {}).map(([arg, wanted]) => ({
        tools,
        arg,
        path: [...path, "args", arg],
        ...(one.decide === "allow" && { allows: wanted }),
      })),
    ];
  });
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

/** What should be written otherwise, a sentence each: rules that escalate by a text, as up to 0.4. */
export function policyWarnings({ rules }: ApprovalPolicy): string[] {
  return rules.flatMap(({ escalation }, index) =>
    typeof escalation === "string"
      ? `approvals.rules[${index}].escalation is a text, so nobody is mentioned. List accounts or groups there.`
      : [],
  );
}
