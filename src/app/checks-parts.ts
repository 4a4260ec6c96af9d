import { isAboutSystems } from "../checks/askable.ts";
import { conclude } from "../checks/conclude.ts";
import { type CheckedSkill, matching } from "../checks/match.ts";
import { planOf } from "../checks/plan.ts";
import { unknownIn } from "../checks/schema.ts";
import { type Subject, subjectOfLabels } from "../checks/subject.ts";
import { subjectOfText } from "../checks/subject-text.ts";
import { headOf } from "../core/text.ts";
import type { Skill } from "../skills/skill.ts";
import type { Checking, Plan, Topic } from "../thread/checking.ts";
import { readArguments } from "../tools/arguments.ts";
import type { Tool } from "../tools/tool.ts";

/** Characters that are read of what is said: a question and an alert's sentences are shorter, and a pasted log costs no more. */
const MAX_TEXT = 4_000;

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
    plan(whole) {
      const topic = { ...whole, text: headOf(whole.text, MAX_TEXT) };
      const { alerts = [], labels = [], text } = topic;
      const isQuestion = alerts.length + labels.length === 0;
      if (isQuestion && !isAboutSystems(text)) return { skills: [], calls: [], needs: [] };
      const subject = subjectOf(topic);
      const found = matching(checked(), { alerts, text, ...(isQuestion && { subject }) });
      const hints = skills().flatMap((skill) => skill.hints ?? []);
      // An alert that names no machine is not about the one that the program happens to run on.
      const isHere = isQuestion || subject.host !== undefined || subject.node !== undefined;
      const here = tools().filter(({ hostBound }) => isHere || hostBound !== true);
      const calls = planOf(found, subject, hints, text).flatMap((call) => madeOf(call, here));
      const asking = found.filter(({ name }) =>
        calls.some(({ askedBy }) => askedBy.some(({ skill }) => skill === name)),
      );
      return {
        skills: (asking.length > 0 ? asking : found).map(({ name }) => name),
        calls,
        needs: calls.length > 0 ? [] : needsOf(found, subject, here),
      };
    },
    conclude(named, results) {
      const now = checked();
      const looked = named.map((name) => {
        // What a skill that is gone looked at is told in the tools' own words.
        const { rules = [], answers = [] } = now.find((skill) => skill.name === name)?.checks ?? {};
        return { rules, answers, results: results.filter(({ skill }) => skill === name) };
      });
      return conclude(looked);
    },
  };
}

/** What the checks of these skills need to be told, those of which the tools are here. */
function needsOf(
  skills: readonly CheckedSkill[],
  subject: Subject,
  tools: readonly Tool[],
): Plan["needs"] {
  const all = skills.flatMap(({ checks: { checks } }) => Object.values(checks));
  const here = all.filter(({ tool }) => tools.some(({ name }) => name === tool));
  return [...new Set(here.flatMap((each) => unknownIn(each, subject)))];
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
  const isRun = (tool?.question ?? tool?.delegates) === undefined;
  if (tool === undefined || tool.effect !== "read" || !isRun) return [];
  const read = readArguments(tool, typed);
  return read.ok ? [{ tool: name, args: read.args, askedBy }] : [];
}
