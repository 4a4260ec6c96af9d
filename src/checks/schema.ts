import * as z from "zod";
import { fillWith, holesIn, plain, templateProblem } from "../core/templates.ts";
import { type Subject, SUBJECTS } from "./subject.ts";

/** The form of a skill's `checks.yaml`: reads, when they fit, and what their findings mean. `docs/skills.md` explains it. */

const text = z.string().trim().min(1).max(500);

const name = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,30}$/, "expected small letters, digits and underscores, such as pods");

/** `*` that a phrase may have. */
const MAX_GAPS = 4;

const phrase = text.refine(
  (words) => words.split(/\s+/).filter((part) => part === "*").length <= MAX_GAPS,
  `expected at most ${MAX_GAPS} "*"`,
);

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
  /** Words; where a question has those of some checks, the others that have words are not made. */
  for: z.preprocess(listed, z.array(phrase).min(1).max(20)).optional(),
  with: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
});

const rule = z.strictObject({
  /** All of them hold, each of one finding. */
  if: z.preprocess(listed, z.array(condition).min(1)),
  say: text,
  fix: text.optional(),
});

const answer = z.strictObject({
  /** Its checks have looked, and none of them holds; without a severity, of what is broken or may be soon. */
  unless: z.preprocess(listed, z.array(condition).min(1)),
  say: text,
  /** Checks of which the first lines are shown below it. */
  show: z.preprocess(listed, z.array(name).min(1)).optional(),
});

/** What `{{check.…}}` may name in a sentence: of the finding that the condition on that check matched. */
const FOUND = ["kind", "namespace", "name", "cause", "evidence", "since"] as const;

/** The first line of what the check's tool wrote, without its findings. */
const SAID = "said";

export const checksSchema = z
  .strictObject({
    when: z
      .strictObject({
        /** Names of alerts. */
        alerts: z.array(text).max(100).default([]),
        /** Words, or words in a row, of a question; `*` stands for up to three, and `up|down` for either. */
        words: z.array(phrase).max(200).default([]),
        /** It fits only a question that names one of these. */
        about: z.array(z.enum(SUBJECTS)).max(10).default([]),
      })
      .prefault({}),
    checks: z.record(name, check).refine((all) => {
      const count = Object.keys(all).length;
      return count >= 1 && count <= 8;
    }, "expected 1 to 8 checks"),
    /** The first rule that holds is said first. */
    rules: z.array(rule).max(50).default([]),
    /** What is said where no rule holds: that what was asked is well, or what it is. */
    answers: z.array(answer).max(20).default([]),
  })
  .superRefine(({ checks, rules, answers }, ctx) => {
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
    for (const [i, { unless, say, show = [] }] of answers.entries()) {
      for (const [j, { check: id }] of unless.entries())
        if (!Object.hasOwn(checks, id))
          problem(["answers", i, "unless", j, "check"], `no check is called ${id}`);
      for (const [j, id] of show.entries())
        if (!Object.hasOwn(checks, id))
          problem(["answers", i, "show", j], `no check is called ${id}`);
      const known = Object.keys(checks).map((id) => `${id}.${SAID}`);
      const wrong = templateProblem(say, known);
      if (wrong !== undefined) problem(["answers", i, "say"], wrong);
    }
  });

export type Checks = z.infer<typeof checksSchema>;
export type Rule = Checks["rules"][number];
export type AnswerRule = Checks["answers"][number];
export type Condition = Rule["if"][number];

/** What the arguments need and nobody named. */
export function unknownIn(
  { with: args }: Checks["checks"][string],
  subject: Subject,
): (keyof Subject)[] {
  const holes = Object.values(args).flatMap((value) => holesIn(String(value)));
  return SUBJECTS.filter((part) => holes.includes(part) && subject[part] === undefined);
}

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
