import { conclude } from "../checks/conclude.ts";
import { matching } from "../checks/match.ts";
import { planOf } from "../checks/plan.ts";
import { subjectOfLabels, subjectOfText } from "../checks/subject.ts";
import type { Skill } from "../skills/skill.ts";
import type { Checking, Plan, Topic } from "../thread/checking.ts";
import { readArguments } from "../tools/arguments.ts";
import type { Tool } from "../tools/tool.ts";

interface ChecksParts {
  /** The skills and the tools as they are now. */
  skills(): readonly Skill[];
  tools(): readonly Tool[];
  firstLook: boolean;
  verifyAfterMs?: number | undefined;
}

/** What threads use of the skills' checks. */
export function createChecking({ skills, tools, ...settings }: ChecksParts): Checking {
  const checked = () =>
    skills().flatMap(({ name, description, checks }) =>
      checks === undefined ? [] : [{ name, description, checks }],
    );
  return {
    ...settings,
    plan(topic) {
      const found = matching(checked(), topic);
      const hints = skills().flatMap((skill) => skill.hints ?? []);
      const calls = planOf(found, subjectOf(topic), hints).flatMap((call) => madeOf(call, tools()));
      return { skills: found.map(({ name }) => name), calls };
    },
    conclude(named, results) {
      const now = checked();
      const looked = named.map((name) => ({
        // What a skill that is gone looked at is told in the tools' own words.
        rules: now.find((skill) => skill.name === name)?.checks.rules ?? [],
        results: results.filter(({ skill }) => skill === name),
      }));
      return conclude(looked);
    },
  };
}

/** Labels say it before words do, the first alert's before the others'. */
function subjectOf({ text, labels = [], time }: Topic) {
  const said = [...labels.map(subjectOfLabels), subjectOfText(text)];
  const subject = said.reduceRight((all, each) => ({ ...all, ...each }), {});
  return time === undefined ? subject : { ...subject, time };
}

/** The call with its arguments read; none where one is not known, or where the tool is not here or does more than read. */
function madeOf(
  { tool: name, args: typed, askedBy }: ReturnType<typeof planOf>[number],
  tools: readonly Tool[],
): Plan["calls"] {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined || tool.effect !== "read" || tool.question !== undefined) return [];
  const read = readArguments(tool, typed);
  return read.ok ? [{ tool: name, args: read.args, askedBy }] : [];
}
