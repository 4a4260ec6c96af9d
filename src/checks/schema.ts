import * as z from "zod";
import { fillWith, plain, templateProblem } from "../core/templates.ts";
import { type Subject, SUBJECTS } from "./subject.ts";

/** The form of a skill's `checks.yaml`: reads, when they fit, and what their findings mean. `docs/skills.md` explains it. */

const text = z.string().trim().min(1).max(500);

const name = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,30}$/, "expected small letters, digits and underscores, such as pods");

/** What a finding must be: patterns in which `*` stands for anything. */
const pattern = z.union([text, z.array(text).min(1).max(20)]);

/** One may stand without a list around it. */
const listed = (value: unknown) => (value === undefined || Array.isArray(value) ? value : [value]);

const condition = z.strictObject({
  check: name,
  /** Of the finding's object. */
  kind: pattern.optional(),
  namespace: pattern.optional(),
  name: pattern.optional(),
  cause: pattern.optional(),
  /** Left out: what is broken now. */
  severity: z.preprocess(listed, z.array(z.enum(["error", "warning", "info"])).min(1)).optional(),
});

const check = z.strictObject({
  tool: z.string().trim().min(1).max(100),
  with: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
});

const rule = z.strictObject({
  /** All of them hold, each of one finding. */
  if: z.preprocess(listed, z.array(condition).min(1)),
  say: text,
  fix: text.optional(),
});

/** What `{{check.…}}` may name in a sentence: of the finding that the condition on that check matched. */
const FOUND = ["kind", "namespace", "name", "cause", "evidence", "since"] as const;

export const checksSchema = z
  .strictObject({
    when: z
      .strictObject({
        /** Names of alerts. */
        alerts: z.array(text).max(100).default([]),
        /** Words, or words in a row, of a question. */
        words: z.array(text).max(200).default([]),
      })
      .prefault({}),
    checks: z.record(name, check).refine((all) => {
      const count = Object.keys(all).length;
      return count >= 1 && count <= 8;
    }, "expected 1 to 8 checks"),
    /** The first rule that holds is said first. */
    rules: z.array(rule).max(50).default([]),
  })
  .superRefine(({ checks, rules }, ctx) => {
    const problem = (path: PropertyKey[], message: string) =>
      ctx.addIssue({ code: "custom", path, message });
    for (const [id, { with: args }] of Object.entries(checks))
      for (const [arg, value] of Object.entries(args)) {
        const wrong = typeof value === "string" ? templateProblem(value, SUBJECTS) : undefined;
        if (wrong !== undefined) problem(["checks", id, "with", arg], wrong);
      }
    for (const [i, each] of rules.entries()) {
      for (const [j, { check: id }] of each.if.entries())
        if (!Object.hasOwn(checks, id))
          problem(["rules", i, "if", j, "check"], `no check is called ${id}`);
      const named = each.if.flatMap(({ check: id }) => FOUND.map((part) => `${id}.${part}`));
      for (const field of ["say", "fix"] as const) {
        const wrong = templateProblem(each[field] ?? "", named);
        if (wrong !== undefined) problem(["rules", i, field], wrong);
      }
    }
  });

export type Checks = z.infer<typeof checksSchema>;
export type Rule = Checks["rules"][number];
export type Condition = Rule["if"][number];

/** A check's arguments as texts, as people type them. One whose value is not known is left out: whether it is needed, the tool knows. */
export function argumentsOf(
  { with: args }: Checks["checks"][string],
  subject: Subject,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(args).flatMap(([arg, value]) => {
      const filled = fillWith(String(value), subject, plain);
      return filled === undefined ? [] : [[arg, filled]];
    }),
  );
}
