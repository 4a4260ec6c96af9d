import type { Draft } from "../core/entry.ts";
import type { ErrorCode } from "../core/errors.ts";
import { entryId } from "./entry-ids.ts";
import type { StepOf } from "./decide.ts";
import { endRun, reportOf } from "./run.ts";
import type { Run } from "./state.ts";

/** What came of asking a run's model. */
export type ModelFacts =
  | { kind: "turn"; turn: Omit<Draft<"assistant">, "id" | "kind" | "run"> }
  /** The request was cut; what the model had written by then. */
  | { kind: "cut"; written: string }
  /** The program has another prompt or other tools than the run began with. */
  | { kind: "changed" }
  | { kind: "failed"; why: string; code: ErrorCode | undefined };

/** Undefined where the run is over, or is to be ended otherwise. A turn is written down all the same: it was used. */
export function modelDrafts(
  { run }: StepOf<"think">,
  facts: ModelFacts,
): [Draft<"assistant" | "run_ended">] | undefined {
  const name = run.started.run;
  if (facts.kind === "turn") {
    const { turn } = facts;
    return [{ id: entryId.assistant(name, turn.step), kind: "assistant", run: name, ...turn }];
  }
  if (run.ended !== undefined) return undefined;
  // Cut by a Stop it ends with what it had written; by a shutdown it does not end.
  if (facts.kind === "cut") {
    return run.stopped && run.open.size === 0 ? [endRun(run, facts.written)] : undefined;
  }
  if (run.stopped) return undefined;
  const ended = { id: entryId.runEnded(name), kind: "run_ended", run: name } as const;
  // Within a run the prefix stays the same bytes.
  if (facts.kind === "changed") {
    const why = "The program was changed while this run was open, so it ends here.";
    const text = `${reportOf(run, why)}\n\nWrite "continue" to go on from here.`;
    return [{ ...ended, status: "wrapped_up", text }];
  }
  const { code } = facts;
  const text = failureText(run, facts.why, code);
  return [{ ...ended, status: "failed", text, ...(code !== undefined && { error: code }) }];
}

function failureText(run: Run, why: string, code: ErrorCode | undefined): string {
  const left = code === "MODEL_CONTENT_UNSUPPORTED" ? ", without the files sent so far" : "";
  const isSpent = code === "BUDGET_EXHAUSTED";
  const again = isSpent ? "" : `Nothing was lost. Write again, and I'll try again${left}. `;
  const head = reportOf(run, `The model could not answer. ${why}`);
  return `${head}\n\n${again}\`run …\` commands work without the AI.`;
}
