import { addUsage, NO_USAGE, totalTokens, type Usage } from "../core/block.ts";
import { addMoney, type Money, moneyOf, NO_MONEY } from "../core/money.ts";
import type { Entry, JsonObject, Outcome } from "../core/entry.ts";
import type { Finding } from "../core/finding.ts";
import { numberOfCall } from "../thread/entry-ids.ts";
import { usesOf } from "../thread/model-run.ts";
import { numbersIn } from "../thread/sentences.ts";
import { VERDICTS, type VerdictWord } from "./case.ts";

/** A call as it came to be. */
interface MadeCall {
  readonly call: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly outcome: Outcome;
  readonly text: string;
  readonly findings: readonly Finding[];
}

/** What happened in a thread, as far as an answer is judged by it. */
export interface Facts {
  /** The last answer of a run; undefined: there was none. */
  readonly answer: string | undefined;
  readonly status: Entry<"run_ended">["status"] | undefined;
  /** How the answer grades its conclusion first. */
  readonly verdict: VerdictWord | undefined;
  /** In the order in which they ended. */
  readonly calls: readonly MadeCall[];
  /** Tools of calls that the answer cites. */
  readonly cited: readonly string[];
  readonly steps: number;
  readonly usage: Usage;
  readonly tokens: number;
  /** What its requests cost, by the prices that the program knew. */
  readonly money: Money;
  /** How often each gate spoke. */
  readonly gates: Readonly<Record<string, number>>;
}

export function factsOf(entries: readonly Entry[]): Facts {
  const made = new Map<string, { tool: string; args: JsonObject }>();
  const calls: MadeCall[] = [];
  const gates: Record<string, number> = {};
  let ended: Entry<"run_ended"> | undefined;
  let [steps, usage, money, asked] = [0, NO_USAGE, NO_MONEY, 0];
  const spend = (request: Parameters<typeof moneyOf>[0]) => {
    usage = addUsage(usage, request.usage);
    money = addMoney(money, moneyOf(request));
  };
  for (const entry of entries) {
    if (entry.kind === "run_started") {
      for (const { call, tool, args } of entry.calls) made.set(call, { tool, args });
      if (entry.checks !== undefined) asked += entry.calls.length;
    }
    if (entry.kind === "condensed") spend(entry);
    const isThought =
      entry.kind === "plan" || entry.kind === "goal_planned" || entry.kind === "goal_judged";
    if (isThought && entry.thought !== undefined) spend(entry.thought);
    if (entry.kind === "assistant") {
      steps += 1;
      spend(entry);
      const uses = usesOf(entry, asked);
      for (const { call, tool, args } of uses) made.set(call, { tool, args });
      asked += uses.length;
    }
    if (entry.kind === "action_proposed" || entry.kind === "tool_started") {
      const { call, tool, args } = entry;
      made.set(call, { tool, args: args ?? made.get(call)?.args ?? {} });
    }
    if (entry.kind === "tool_finished") {
      const { call, outcome, text, findings = [] } = entry;
      const begun = made.get(call);
      const tool = entry.tool ?? begun?.tool ?? "unknown";
      calls.push({ call, tool, args: entry.args ?? begun?.args ?? {}, outcome, text, findings });
    }
    if (entry.kind === "gate") gates[entry.gate] = (gates[entry.gate] ?? 0) + 1;
    if (entry.kind === "run_ended" && entry.status !== "silent") ended = entry;
  }
  const answer = ended?.text;
  const cited = new Set(numbersIn(answer ?? ""));
  return {
    answer,
    status: ended?.status,
    verdict: verdictIn(answer ?? ""),
    calls,
    cited: calls.flatMap(({ call, tool }) => (cited.has(numberOfCall(call)) ? [tool] : [])),
    steps,
    usage,
    tokens: totalTokens(usage),
    money,
    gates,
  };
}

function verdictIn(text: string): VerdictWord | undefined {
  const [found] = new RegExp(`\\b(?:${VERDICTS.join("|")})\\b`).exec(text) ?? [];
  return VERDICTS.find((word) => word === found);
}
