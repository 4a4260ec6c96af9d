import * as z from "zod";
import { globMatches } from "../core/glob.ts";
import { type Subject, SUBJECTS } from "./subject.ts";

/** The form of a skill's `hints.yaml`: which tools are good for what a question is about, and which are not. `docs/skills.md` explains it. */

const pattern = z.string().trim().min(1).max(200);
const tools = z.array(pattern).max(50).default([]);

const hint = z
  .strictObject({
    /** What it is about, such as a namespace: patterns, all of which fit. */
    for: z
      .partialRecord(z.enum(SUBJECTS), z.union([pattern, z.array(pattern).min(1).max(50)]))
      .refine(
        (each) => Object.keys(each).length > 0,
        "expected one at least, such as namespace: shop",
      ),
    use: tools,
    leave_out: tools,
    why: z.string().trim().min(1).max(300).optional(),
  })
  .refine(({ use, leave_out: out }) => use.length + out.length > 0, "expected use: or leave_out:");

export const hintsSchema = z.strictObject({ hints: z.array(hint).min(1).max(100) });

export type Hint = z.infer<typeof hint>;

/** True: a hint for what the question is about says to leave the tool out. What is not known fits no hint. */
export function isLeftOut(tool: string, subject: Subject, hints: readonly Hint[]): boolean {
  return hints.some(
    ({ for: about, leave_out: out }) =>
      out.some((glob) => globMatches(glob, tool)) &&
      Object.entries(about).every(([name, globs]) => {
        const value = Object.entries(subject)
          .find(([key]) => key === name)?.[1]
          ?.toLowerCase();
        return (
          value !== undefined &&
          [globs].flat().some((glob) => globMatches(glob.toLowerCase(), value))
        );
      }),
  );
}

/** A hint as a model reads it. */
export function hintText({ for: about, use, leave_out: out, why }: Hint): string {
  const subject = Object.entries(about).map(
    ([name, globs]) => `${name} ${[globs].flat().join(" or ")}`,
  );
  const said = [
    ...(use.length === 0 ? [] : [`use ${use.join(", ")}`]),
    ...(out.length === 0 ? [] : [`leave out ${out.join(", ")}`]),
  ];
  return `For ${subject.join(" and ")}: ${said.join("; ")}${why === undefined ? "" : `. ${why}`}`;
}
