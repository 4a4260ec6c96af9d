import { type Finding, type Gap, objectText } from "../core/finding.ts";
import { globMatches } from "../core/glob.ts";
import { fillForPeople, fillWith, plain } from "../core/templates.ts";
import type { AnswerRule, Checks, Condition, Rule } from "./schema.ts";

/** What one check came to. */
export interface CheckResult {
  readonly check: string;
  /** How people find its output, such as `T1`. */
  readonly ref: string;
  /** False: it failed, and says nothing of what it looked at. */
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  readonly gaps: readonly Gap[];
  /** What its tool wrote, without its findings. */
  readonly text: string;
}

/** A sentence, and the checks that show it. */
interface Statement {
  readonly text: string;
  readonly refs: readonly string[];
  readonly fix?: string | undefined;
}

/** What was asked is well, or is so. */
interface Answer extends Statement {
  /** Lines of its checks, which say more. */
  readonly lines: readonly string[];
}

export interface Conclusion {
  /** What the rules say is broken, the most likely cause first. Empty: nothing that they know of. */
  readonly statements: readonly Statement[];
  /** What is said to what was asked, where no rule holds. */
  readonly answers: readonly Answer[];
  /** What is broken by a tool's own word, and no rule spoke of: it need have nothing to do with what was asked. */
  readonly others: readonly Statement[];
  readonly gaps: readonly Gap[];
  /** Checks that failed. */
  readonly failed: readonly string[];
}

const MAX_STATEMENTS = 5;
const MAX_ANSWER_LINES = 8;

/** A skill's rules and answers, and what its checks came to. */
export interface Looked {
  readonly rules: Checks["rules"];
  readonly answers: Checks["answers"];
  readonly results: readonly CheckResult[];
}

/**
 * What the findings of some skills' checks mean, the best fitting skill first: rules that hold, in their order; where none does, answers;
 * and what is broken by a finding's own word where no rule spoke of its object, by the first call that found it broken. Never more than
 * was found: with nothing found there is no statement. A call may be the result of several checks.
 */
export function conclude(looked: readonly Looked[]): Conclusion {
  const spoken = new Set<string>();
  const ruled = looked.flatMap(({ rules, results }) =>
    rules.flatMap((rule) => {
      const matched = matchesOf(rule, results);
      if (matched === undefined) return [];
      const keys = matched.map(({ ref, finding }) => keyOf(ref, finding));
      const isNews = keys.some((key) => !spoken.has(key));
      for (const key of keys) spoken.add(key);
      return isNews ? [statementOf(rule, matched)] : [];
    }),
  );
  const calls = [
    ...new Map(looked.flatMap(({ results }) => results.map((each) => [each.ref, each]))).values(),
  ];
  const found = calls.flatMap(({ ref, findings }) => findings.map((finding) => ({ ref, finding })));
  /** Where an object is told of; nowhere: by a rule. */
  const told = new Map<string, string>();
  for (const { ref, finding } of found)
    if (spoken.has(keyOf(ref, finding))) told.set(objectText(finding.object), "");
  const broken = found.filter(({ finding }) => finding.severity === "error");
  for (const { ref, finding } of broken) {
    const object = objectText(finding.object);
    told.set(object, told.get(object) ?? ref);
  }
  const own = broken
    .filter(({ ref, finding }) => told.get(objectText(finding.object)) === ref)
    .map(({ ref, finding: { object, cause, fix } }) => ({
      text: `${objectText(object)}: ${cause}`,
      refs: [ref],
      fix,
    }));
  const answers = ruled.length > 0 ? [] : looked.flatMap((each) => answersOf(each));
  return {
    statements: ruled.slice(0, MAX_STATEMENTS),
    answers: [...new Map(answers.map((each) => [each.text, each])).values()].slice(
      0,
      MAX_STATEMENTS,
    ),
    others: own.slice(0, MAX_STATEMENTS),
    gaps: calls.flatMap(({ gaps }) => gaps),
    failed: calls.filter(({ ok }) => !ok).map(({ ref }) => ref),
  };
}

/** What may be said of checks that looked, none of which found what the answer is denied by. */
function answersOf({ answers, results }: Looked): Answer[] {
  const looked = new Map(results.filter(({ ok }) => ok).map((each) => [each.check, each]));
  return answers.flatMap(({ unless, say, show = [] }) => {
    const asked = unless.map(({ check }) => looked.get(check));
    if (asked.includes(undefined) || unless.some((each) => isDenied(each, results))) return [];
    const said = [...looked].map(([check, { text }]) => [`${check}.said`, linesOf(text)[0]]);
    const text = fillWith(say, Object.fromEntries(said), plain);
    if (text === undefined) return [];
    const shown = show.flatMap((check) => looked.get(check) ?? []);
    const named = [...looked.values()].filter(({ check }) => say.includes(`{{${check}.said}}`));
    const refs = [...asked, ...named, ...shown].flatMap((each) => each?.ref ?? []);
    const lines = shown.flatMap((each) => linesOf(each.text).slice(named.includes(each) ? 1 : 0));
    return [{ text, refs: [...new Set(refs)], lines: lines.slice(0, MAX_ANSWER_LINES) }];
  });
}

function isDenied(
  { severity = ["error", "warning"], ...condition }: AnswerRule["unless"][number],
  results: readonly CheckResult[],
): boolean {
  return matchesOf({ if: [{ ...condition, severity }] }, results) !== undefined;
}

function linesOf(text: string): string[] {
  return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
}

function keyOf(ref: string, { object, cause }: Finding): string {
  return JSON.stringify([ref, objectText(object), cause]);
}

interface Match {
  condition: Condition;
  ref: string;
  finding: Finding;
}

/** A finding for each condition of the rule; undefined where one has none. */
function matchesOf(rule: Pick<Rule, "if">, results: readonly CheckResult[]): Match[] | undefined {
  const matched = rule.if.map((condition) => {
    const result = results.find(({ check }) => check === condition.check);
    const finding = result?.findings.find((each) => holds(condition, each));
    return result && finding && { condition, ref: result.ref, finding };
  });
  return matched.every((each) => each !== undefined) ? matched : undefined;
}

/** Without a severity only what is broken now counts. */
function holds(
  { kind, namespace, name, cause, severity = ["error"] }: Condition,
  { object, ...finding }: Finding,
): boolean {
  const is = (wanted: string | string[] | undefined, text: string) =>
    wanted === undefined ||
    [wanted].flat().some((glob) => globMatches(glob.toLowerCase(), text.toLowerCase()));
  return (
    severity.includes(finding.severity) &&
    is(kind, object.kind) &&
    is(namespace, object.namespace) &&
    is(name, object.name) &&
    is(cause, finding.cause)
  );
}

function statementOf({ say, fix }: Rule, matched: readonly Match[]): Statement {
  const values = Object.fromEntries(
    matched.flatMap(({ condition: { check }, finding: { object, cause, evidence, since } }) =>
      Object.entries({ ...object, cause, evidence, since: since ?? undefined }).map(
        ([part, value]) => [`${check}.${part}`, value],
      ),
    ),
  );
  return {
    text: fillForPeople(say, values),
    refs: [...new Set(matched.map(({ ref }) => ref))],
    fix: fix === undefined ? matched[0]?.finding.fix : fillForPeople(fix, values),
  };
}
