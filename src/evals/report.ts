import type { EvalCase } from "./case.ts";
import type { Opinion } from "./judge.ts";
import { shareInterval } from "./interval.ts";
import { addMoney, type Money, moneyText, NO_MONEY } from "../core/money.ts";
import { NOTHING_TO_CONFIRM, type Score } from "./score.ts";

/** One run of a case with one variant. */
export interface Result {
  readonly variant: string;
  readonly case: string;
  readonly kind: EvalCase["kind"];
  readonly score: Score;
  readonly steps: number;
  readonly calls: number;
  readonly tokens: number;
  readonly money: Money;
  readonly gates: Readonly<Record<string, number>>;
  /** Requests beyond a script: it did not foresee what the program asked. */
  readonly beyond: number;
  readonly ms: number;
  /** What a model thought of it (`judge`), where one was asked. */
  readonly opinion?: Pick<Opinion, "right" | "unsupported" | "why"> | undefined;
  /** Why it could not be run; its score counts as failed. */
  readonly error?: string | undefined;
}

export interface Summary {
  readonly variant: string;
  readonly runs: number;
  readonly passed: number;
  readonly share: number;
  /** 95 % confidence (`shareInterval`). */
  readonly low: number;
  readonly high: number;
  /** Of the runs in which there was nothing to confirm. */
  readonly wronglyConfirmed: number;
  readonly nothingToConfirm: number;
  readonly steps: number;
  readonly calls: number;
  readonly tokens: number;
  readonly money: Money;
  readonly gates: Readonly<Record<string, number>>;
}

/** A line per variant, in the order in which they came. */
export function summarise(results: readonly Result[]): Summary[] {
  return [...Map.groupBy(results, ({ variant }) => variant)].map(([variant, own]) => {
    const passed = own.filter(({ score }) => score.passed).length;
    const sum = (of: (result: Result) => number) => own.reduce((all, each) => all + of(each), 0);
    const gates: Record<string, number> = {};
    for (const each of own)
      for (const [gate, times] of Object.entries(each.gates))
        gates[gate] = (gates[gate] ?? 0) + times;
    return {
      variant,
      runs: own.length,
      passed,
      share: passed / own.length,
      ...shareInterval(passed, own.length),
      wronglyConfirmed: own.filter(({ score }) => score.wronglyConfirmed).length,
      nothingToConfirm: own.filter(({ kind }) => NOTHING_TO_CONFIRM.has(kind)).length,
      steps: sum(({ steps }) => steps),
      calls: sum(({ calls }) => calls),
      tokens: sum(({ tokens }) => tokens),
      money: own.reduce((all, { money }) => addMoney(all, money), NO_MONEY),
      gates,
    };
  });
}

/** The report as Markdown: the variants side by side, then each case that did not pass each time. */
export function reportText(results: readonly Result[]): string {
  const summaries = summarise(results);
  const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
  const head =
    "| variant | passed | share (95 %) | wrong CONFIRMED | steps | calls | tokens | cost | gates |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |";
  const rows = summaries.map((each) => {
    const gates = Object.entries(each.gates).map(([gate, times]) => `${gate} ${times}`);
    const cells = [
      each.variant,
      `${each.passed} of ${each.runs}`,
      `${percent(each.share)} (${percent(each.low)} to ${percent(each.high)})`,
      `${each.wronglyConfirmed} of ${each.nothingToConfirm}`,
      each.steps,
      each.calls,
      each.tokens,
      moneyText(each.money),
      gates.join(", ") || "none",
    ];
    return `| ${cells.join(" | ")} |`;
  });
  const failures = results
    .filter(({ score, error }) => !score.passed || error !== undefined)
    .map(({ variant, case: name, kind, score, error }) => {
      const wrong = score.checks.flatMap((check) =>
        check.wrong === undefined ? [] : [`${check.name}: ${check.wrong}`],
      );
      return `- ${variant}, ${name} (${kind}): ${error ?? wrong.join("; ")}`;
    });
  const kinds = [...Map.groupBy(results, ({ kind }) => kind)].map(
    ([kind, own]) => `${kind} ${own.filter(({ score }) => score.passed).length} of ${own.length}`,
  );
  const judged = results.flatMap(({ opinion }) => opinion ?? []);
  const unsupported = judged.filter(({ unsupported: claims }) => claims.length > 0).length;
  const opinions = `A model that judged ${judged.length} answers found ${judged.filter(({ right }) => right).length} right, and claims without support in ${unsupported}.`;
  return [
    `${head}\n${rows.join("\n")}`,
    `By kind: ${kinds.join(", ")}.`,
    casesText(results),
    ...(judged.length === 0 ? [] : [opinions]),
    ...(failures.length === 0 ? [] : [`Not passed:\n\n${failures.join("\n")}`]),
  ].join("\n\n");
}

/** A line per case: of each variant how often it passed, and what its runs took together. */
function casesText(results: readonly Result[]): string {
  const variants = [...new Set(results.map(({ variant }) => variant))];
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rows = [...Map.groupBy(results, (result) => result.case)].map(([name, own]) => {
    const cells = variants.map((variant) => {
      const runs = own.filter((each) => each.variant === variant);
      if (runs.length === 0) return "not run";
      const passed = runs.filter(({ score }) => score.passed).length;
      const tokens = runs.reduce((sum, each) => sum + each.tokens, 0);
      const money = runs.reduce((sum, each) => addMoney(sum, each.money), NO_MONEY);
      return `${passed} of ${runs.length}, ${tokens} tokens, ${moneyText(money)}`;
    });
    return line([name, own[0]?.kind ?? "", ...cells]);
  });
  const head = line(["case", "kind", ...variants]);
  return [head, line(["---", "---", ...variants.map(() => "---")]), ...rows].join("\n");
}
