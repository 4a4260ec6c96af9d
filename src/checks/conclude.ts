import { type Finding, type Gap, objectText } from "../core/finding.ts";
import { globMatches } from "../core/glob.ts";
import { fillForPeople } from "../core/templates.ts";
import type { Checks, Condition, Rule } from "./schema.ts";

/** What one check came to. */
export interface CheckResult {
  readonly check: string;
  /** How people find its output, such as `T1`. */
  readonly ref: string;
  /** False: it failed, and says nothing of what it looked at. */
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  readonly gaps: readonly Gap[];
}

/** A sentence, and the checks that show it. */
interface Statement {
  readonly text: string;
  readonly refs: readonly string[];
  readonly fix?: string | undefined;
}

export interface Conclusion {
  /** What the checks show to be broken, the most likely cause first. Empty: nothing that they know of. */
  readonly statements: readonly Statement[];
  readonly gaps: readonly Gap[];
  /** Checks that failed. */
  readonly failed: readonly string[];
}

const MAX_STATEMENTS = 5;

/** A skill's rules, and what its checks came to. */
export interface Looked {
  readonly rules: Checks["rules"];
  readonly results: readonly CheckResult[];
}

/**
 * What the findings of some skills' checks mean, the best fitting skill first: rules that hold, in their order, then what is broken by
 * a finding's own word where no rule spoke of its object, by the first call that found it broken. Never more than was found: with
 * nothing found there is no statement. A call may be the result of several checks.
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
  return {
    statements: [...ruled, ...own].slice(0, MAX_STATEMENTS),
    gaps: calls.flatMap(({ gaps }) => gaps),
    failed: calls.filter(({ ok }) => !ok).map(({ ref }) => ref),
  };
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
function matchesOf(rule: Rule, results: readonly CheckResult[]): Match[] | undefined {
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
