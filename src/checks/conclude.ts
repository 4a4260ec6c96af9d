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
export interface Statement {
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

/**
 * What the findings mean: rules that hold, in their order, then what is broken by a finding's own word where no rule spoke of its
 * object, by the first check that found it broken. Never more than was found: with nothing found there is no statement.
 */
export function conclude(rules: Checks["rules"], results: readonly CheckResult[]): Conclusion {
  const spoken = new Set<Finding>();
  const ruled = rules.flatMap((rule) => {
    const matched = matchesOf(rule, results);
    if (matched === undefined) return [];
    const isNews = matched.some(({ finding }) => !spoken.has(finding));
    for (const { finding } of matched) spoken.add(finding);
    return isNews ? [statementOf(rule, matched)] : [];
  });
  const told = new Map([...spoken].map(({ object }) => [objectText(object), ""]));
  for (const { ref, findings } of results)
    for (const { object, severity } of findings)
      if (severity === "error" && !told.has(objectText(object))) told.set(objectText(object), ref);
  const own = results
    .flatMap(({ ref, findings }) => findings.map((finding) => ({ ref, finding })))
    .filter(
      ({ ref, finding }) =>
        finding.severity === "error" && told.get(objectText(finding.object)) === ref,
    )
    .map(({ ref, finding: { object, cause, fix } }) => ({
      text: `${objectText(object)}: ${cause}`,
      refs: [ref],
      fix,
    }));
  return {
    statements: [...ruled, ...own].slice(0, MAX_STATEMENTS),
    gaps: results.flatMap(({ gaps }) => gaps),
    failed: results.filter(({ ok }) => !ok).map(({ ref }) => ref),
  };
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
