import * as z from "zod";
import type { NameForms } from "./requester.ts";
import { DEFAULT_EXPIRY_MINUTES, filled, MAX_EXPIRY_MINUTES } from "./rule-fields.ts";

/** Whom a rule turns to when its action has waited for some time, and when. */
export function createEscalation(approver: NameForms["approver"]) {
  return {
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
      description:
        "With `escalation` or `page`: when that is, in minutes; less than `expiresInMinutes`.",
      unset: "a quarter of `expiresInMinutes`",
    }),
    page: z
      .strictObject(
        {
          service: filled.describe(
            "With `ask`: the service of PagerDuty, by name or id, whose people are paged when an action has waited for that time. That gives nobody the right to approve it. See [PagerDuty](integrations/pagerduty.md#paging-for-an-action-that-waits).",
          ),
          instance: filled
            .optional()
            .meta({ description: "Which of several accounts.", unset: "the first" }),
        },
        { error: 'expected a service of PagerDuty, such as { service: "Checkout" }' },
      )
      .optional(),
  };
}

type Escalation = z.infer<z.ZodObject<ReturnType<typeof createEscalation>>> & {
  expiresInMinutes?: number | undefined;
};

type PagedService = NonNullable<Escalation["page"]>;

/** What is wrong with the fields together: which field, and why. */
export function escalationFaults({
  escalation,
  escalateAfterMinutes = 0,
  expiresInMinutes = DEFAULT_EXPIRY_MINUTES,
  page,
}: Escalation): [keyof Escalation, string][] {
  const faults: [keyof Escalation, string][] = [];
  if (escalateAfterMinutes > 0 && !Array.isArray(escalation) && page === undefined)
    faults.push([
      "escalateAfterMinutes",
      "needs escalation: a list of accounts or groups; or page",
    ]);
  if (escalateAfterMinutes >= expiresInMinutes)
    faults.push(["escalateAfterMinutes", "is not before the action expires"]);
  return faults;
}

/** Whom to mention and page, and after how many minutes. Without a time of its own it comes before the first reminder. */
export function escalationOf({
  escalation,
  escalateAfterMinutes,
  expiresInMinutes = DEFAULT_EXPIRY_MINUTES,
  page,
}: Escalation): { to: string[]; afterMinutes: number; page?: PagedService } | undefined {
  if (!Array.isArray(escalation) && page === undefined) return undefined;
  const quarter = Math.max(1, Math.floor(expiresInMinutes / 4));
  return {
    to: Array.isArray(escalation) ? escalation : [],
    afterMinutes: escalateAfterMinutes ?? quarter,
    ...(page !== undefined && { page }),
  };
}

/** Whose people the rules page, each with its path below the policy: only the tools can say whether that can be done. */
export function pagesIn(
  rules: readonly Escalation[],
): { to: PagedService; path: (string | number)[] }[] {
  return rules.flatMap(({ page }, index) =>
    page === undefined ? [] : [{ to: page, path: ["rules", index, "page"] }],
  );
}

/** A sentence for each rule that escalates by a text, as up to 0.4. */
export function escalationWarnings(rules: readonly Escalation[]): string[] {
  return rules.flatMap(({ escalation }, index) =>
    typeof escalation === "string"
      ? `approvals.rules[${index}].escalation is a text, so nobody is mentioned. List accounts or groups there.`
      : [],
  );
}
