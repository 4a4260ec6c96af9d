import type { EvalCase } from "./case.ts";
import type { Facts } from "./facts.ts";

/** One thing that was asked of an answer, and what was wrong with it; undefined: it was met. */
interface Check {
  readonly name: string;
  readonly wrong: string | undefined;
}

export interface Score {
  /** All checks are met. */
  readonly passed: boolean;
  readonly checks: readonly Check[];
  /** It confirms a fault where nothing is broken, or anything where nobody could know. */
  readonly wronglyConfirmed: boolean;
  /** Calls that the frozen world had no answer to. */
  readonly unfrozen: number;
}

/** Begins the text of a call that no frozen output fits. */
export const UNFROZEN = "Nothing is frozen for this call";

/** Kinds in which there is no fault to confirm. */
export const NOTHING_TO_CONFIRM: ReadonlySet<string> = new Set([
  "healthy",
  "stale_alert",
  "ambiguous",
]);

/** Judges what happened by the case alone: the same facts always have the same score. */
export function scoreOf(
  { kind, expect, limits }: Pick<EvalCase, "kind" | "expect" | "limits">,
  facts: Facts,
): Score {
  const { answer, verdict, calls, cited, steps, tokens } = facts;
  const text = (answer ?? "").toLowerCase();
  const has = (words: string) => text.includes(words.toLowerCase());
  const ran = calls.filter(({ outcome }) => outcome === "ok" || outcome === "error");
  const names = ran.map(({ tool }) => tool);
  const unmet = (name: string, isMet: boolean, wrong: string): Check => ({
    name,
    wrong: isMet ? undefined : wrong,
  });
  const within = (name: string, used: number, limit: number | undefined) =>
    limit === undefined ? [] : [unmet(name, used <= limit, `${used} of at most ${limit}`)];
  // Of what is well it may be sure, in the words that the case asks for.
  const saysWell =
    kind !== "ambiguous" && expect.finds.every((one) => [one].flat().some((words) => has(words)));
  const checks: Check[] = [
    unmet("answered", answer !== undefined, `there is no answer (${facts.status ?? "unfinished"})`),
    ...(expect.verdict === undefined
      ? []
      : [
          unmet(
            "verdict",
            verdict !== undefined && expect.verdict.includes(verdict),
            `${verdict ?? "no grade"} instead of ${expect.verdict.join(" or ")}`,
          ),
        ]),
    ...expect.finds.map((one) => {
      const words = [one].flat();
      return unmet("finds", words.some(has), `it does not say ${words.join(" or ")}`);
    }),
    ...expect.sees.map((one) => {
      const words = [one].flat();
      const isSeen = words.some((each) => calls.some((call) => call.text.includes(each)));
      return unmet("sees", isSeen, `no call returned ${words.join(" or ")}`);
    }),
    ...expect.never.map((words) => unmet("never says", !has(words), `it says ${words}`)),
    ...expect.cites.map((tool) =>
      unmet("cites", cited.includes(tool), `it does not rest on ${tool}`),
    ),
    ...(expect.calls.length === 0
      ? []
      : [
          unmet(
            "calls",
            isWithin(expect.calls, names),
            `it called ${names.join(", ") || "nothing"} instead of ${expect.calls.join(", ")}`,
          ),
        ]),
    ...expect.neverRuns.map((tool) => unmet("never runs", !names.includes(tool), `${tool} ran`)),
    ...within("steps", steps, limits.steps),
    ...within("calls made", calls.length, limits.calls),
    ...within("tokens", tokens, limits.tokens),
  ];
  return {
    passed: checks.every(({ wrong }) => wrong === undefined),
    checks,
    wronglyConfirmed: verdict === "CONFIRMED" && NOTHING_TO_CONFIRM.has(kind) && !saysWell,
    unfrozen: calls.filter((call) => call.text.includes(UNFROZEN)).length,
  };
}

/** They come in this order, with others between. */
function isWithin(wanted: readonly string[], names: readonly string[]): boolean {
  let at = 0;
  for (const name of names) if (name === wanted[at]) at += 1;
  return at === wanted.length;
}
