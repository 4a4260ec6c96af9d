import type { Call } from "../call.ts";
import { citationOf, numberOfCall } from "../entry-ids.ts";
import { gradeIn, withWarning } from "../evidence.ts";
import { HOUSEKEEPING } from "../housekeeping.ts";
import * as phrases from "../phrases.ts";
import { numbersIn } from "../sentences.ts";
import type { Run } from "../state.ts";
import { type Answer, type Gate, refuse } from "./gate.ts";

/**
 * A tool that failed is not called again before the model has written why, in whatever words; and what failed and never went
 * well afterwards has to stand in a sure answer. The same tool's later success resolves a failure.
 */
export const recovery: Gate = {
  name: "recovery",
  about:
    "refuses a tool that failed until the model has written something about it, and sends back a sure answer that leaves an unresolved failure out",
  beforeCall({ call: { tool }, run, modelRun }) {
    const failure = unresolvedIn(run).find((failed) => failed.tool === tool);
    if (failure?.finished === undefined || modelRun.wroteAt > failure.finished.seq)
      return undefined;
    return refuse(
      `[${citationOf(failure.call)}] ${tool} failed, and you have written nothing since, so it was not executed. Write in a sentence why it failed and what you do differently; then call it in that turn.`,
    );
  },
  beforeAnswer(answer) {
    const open = unnamedIn(answer);
    if (open.length === 0) return undefined;
    const names = open.map(({ call, tool }) => `[${citationOf(call)}] ${tool}`).join(", ");
    return `Your answer was not shown yet: what failed was not resolved, and it does not say so: ${names}. Try another way, or write with its reference what could not be seen.`;
  },
  marked(answer) {
    const open = unnamedIn(answer).map(({ call }) => citationOf(call));
    return open.length === 0
      ? answer.text
      : withWarning(answer.text, phrases.doubts.unresolved(open));
  },
};

/** The newest failure of each tool that has not gone well since. */
function unresolvedIn({ calls }: Run): Call[] {
  const open = new Map<string, Call>();
  for (const call of calls.values()) {
    const { tool, finished } = call;
    if (HOUSEKEEPING.test(tool)) continue;
    if (finished?.outcome === "error") open.set(tool, call);
    else if (finished?.outcome === "ok") open.delete(tool);
  }
  return [...open.values()];
}

/** Those that a sure answer does not name. */
function unnamedIn({ text, run }: Answer): Call[] {
  const grade = gradeIn(text);
  if (grade === undefined || grade === "INCONCLUSIVE") return [];
  const cited = numbersIn(text);
  return unresolvedIn(run).filter(
    ({ call, tool }) => !cited.includes(numberOfCall(call)) && !text.includes(tool),
  );
}
