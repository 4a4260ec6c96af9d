import { type Hint, isLeftOut } from "./hints.ts";
import type { CheckedSkill } from "./match.ts";
import { argumentsOf } from "./schema.ts";
import type { Subject } from "./subject.ts";

/** One call, however many checks ask for it. */
export interface PlannedCall {
  readonly tool: string;
  /** As people type them. */
  readonly args: Readonly<Record<string, string>>;
  readonly askedBy: readonly { readonly skill: string; readonly check: string }[];
}

/** What the checks of these skills call, in their order, without what a hint leaves out for this subject; `hints`: also others'. */
export function planOf(
  skills: readonly CheckedSkill[],
  subject: Subject,
  hints: readonly Hint[] = skills.flatMap((skill) => skill.hints ?? []),
): PlannedCall[] {
  const asked = skills.flatMap(({ name: skill, checks: { checks } }) =>
    Object.entries(checks).flatMap(([check, each]) => {
      if (isLeftOut(each.tool, subject, hints)) return [];
      const args = argumentsOf(each, subject);
      const words = Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1));
      return [{ tool: each.tool, args, skill, check, key: JSON.stringify([each.tool, words]) }];
    }),
  );
  return [...Map.groupBy(asked, ({ key }) => key).values()].flatMap((same) => {
    const [first] = same;
    const askedBy = same.map(({ skill, check }) => ({ skill, check }));
    return first === undefined ? [] : [{ tool: first.tool, args: first.args, askedBy }];
  });
}
