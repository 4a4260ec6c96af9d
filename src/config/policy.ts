import * as z from "zod";
import { createAccessPolicy } from "../approvals/access.ts";
import { createApprovalPolicy } from "../approvals/policy-form.ts";
import { createNameForms } from "../approvals/requester.ts";
import { PLATFORM_NAMES } from "../adapters/platforms.ts";

/** How configuration names accounts, groups and channels. */
export const forms = createNameForms(PLATFORM_NAMES);

export const approvalPolicy = createApprovalPolicy(forms);

export const accessPolicy = createAccessPolicy(forms);

/** One channel of a chat. */
export const channel = z
  .string()
  .refine(
    (name) =>
      forms.channel.safeParse(name).success &&
      name.split(":").length === 3 &&
      !name.includes(":dm:"),
    'expected one channel, such as "slack:T1:C0OPS" or "discord:1122:3344", with ids, not names',
  );

/** Which accounts belong to one person. */
export const people = z
  .array(
    z.strictObject({
      name: z
        .string()
        .regex(/\S/, "expected a name")
        .describe("The person's name; each name once."),
      accounts: z
        .array(forms.account)
        .min(1, "is empty; name the accounts that are this person's")
        .describe(`${forms.listed.account}; each account once.`),
    }),
  )
  .superRefine((list, ctx) => {
    const seen = new Set<string>();
    for (const [i, { name, accounts }] of list.entries()) {
      for (const [path, text] of [
        [["name"], `name ${name}`],
        ...accounts.map((a, j) => [["accounts", j], a] as const),
      ] as const) {
        if (seen.has(text))
          ctx.addIssue({ code: "custom", path: [i, ...path], message: "is there twice" });
        seen.add(text);
      }
    }
  });
