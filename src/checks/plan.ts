import { type Hint, isLeftOut } from "./hints.ts";
import { type CheckedSkill, saidIn } from "./match.ts";
import { isSaid, phraseOf } from "./phrases.ts";
import { argumentsOf, type Checks } from "./schema.ts";
import type { Subject } from "./subject.ts";

/** One call, however many checks ask for it. */
export interface PlannedCall {
  readonly tool: string;
  /** As people type them. */
  readonly args: Readonly<Record<string, string>>;
  readonly askedBy: readonly { readonly skill: string; readonly check: string }[];
}

/**
 * What the checks of these skills call for what is said, in their order, without what a hint leaves out for this subject; `hints`:
 * also others'. `text`: what is asked.
 */
export function planOf(
  skills: readonly CheckedSkill[],
  subject: Subject,
  hints: readonly Hint[] = skills.flatMap((skill) => skill.hints ?? []),
  text = "",
): PlannedCall[] {
  const said = saidIn({ text });
  const asked = skills.flatMap(({ name: skill, checks }) =>
    meantIn(checks, said).flatMap(([check, each]) => {
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

/** Those that the words are about, where any of them are: who asks for Redis wants to know nothing of RabbitMQ. */
function meantIn(
  { checks }: Checks,
  said: readonly string[],
): [string, Checks["checks"][string]][] {
  const all = Object.entries(checks);
  const isMeant = ([, { for: words = [] }]: (typeof all)[number]) =>
    words.some((each) => isSaid(phraseOf(each), said));
  if (!all.some(isMeant)) return all;
  return all.filter((each) => each[1].for === undefined || isMeant(each));
}
