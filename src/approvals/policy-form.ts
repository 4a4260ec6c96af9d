import * as z from "zod";
import { createEscalation, escalationFaults } from "./escalation.ts";
import type { Pattern } from "./matching.ts";
import { isGroup, type NameForms } from "./requester.ts";
import {
  DEFAULT_EXPIRY_MINUTES,
  decisionForm,
  effectForm,
  filled,
  itemsOf,
  MAX_EXPIRY_MINUTES,
  oneOrMore,
  TOOL_NAMES,
  toolNames,
} from "./rule-fields.ts";

/** How the `approvals` part of watchkeeper.yaml is written. `docs/configuration.md` explains the rules to operators. */

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
        unset: `\`${DEFAULT_EXPIRY_MINUTES}\``,
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
    ...createEscalation(approver),
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
      for (const [key, message] of escalationFaults(fields)) say([key], message);
      const { approvers = [] } = fields;
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
export type Rule = z.infer<ReturnType<typeof createRule>>;

/** Something in a policy that only the tools can confirm: a tool (`arg` undefined), or an argument of `tools`. */
export interface NamedInPolicy {
  /** Tool names or globs, as written; empty: any tool. */
  tools: string[];
  arg: string | undefined;
  /** The pattern with which an allow rule lets the argument through. */
  allows?: Pattern;
  /** Its path below the policy. */
  path: (string | number)[];
}

/** Everything the policy names, so that startup can report a tool or an argument that does not exist. */
export function namedIn(policy: ApprovalPolicy): NamedInPolicy[] {
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
