import type { GateName } from "../../core/gates.ts";
import type { PlanTask } from "../../core/plan.ts";
import type { RunTerms } from "../../core/run-terms.ts";
import type { Effect, Entry } from "../../core/entry.ts";
import type { Call } from "../call.ts";
import type { ModelRun } from "../model-run.ts";
import type { Run } from "../state.ts";

/** A call of a model's that nothing was decided about yet. */
export interface AskedCall {
  call: Call;
  run: Run;
  modelRun: ModelRun;
  /** Undefined: no model is configured any more. */
  terms: RunTerms | undefined;
  /** What the call can do. */
  effect(): Effect;
}

/** What becomes of a call in place of what it asks for. */
export type Instead =
  /** It is not executed, and the model reads why. */
  | { do: "refuse"; text: string }
  /** This is its result, and nothing is executed either. `keeps`: what the journal holds of it. */
  | { do: "answer"; text: string; keeps: { plan: readonly PlanTask[] } };

export type Word =
  /** To the model, before it is asked again. `toolsOff`: from then on the run may only answer. */
  | { text: string; toolsOff: boolean; ends?: undefined }
  /** The run ends, and people read why. */
  | { ends: string };

/** The model's last word in a run. */
export interface Answer {
  text: string;
  last: Entry<"assistant">;
  run: Run;
  modelRun: ModelRun;
}

/**
 * One rule that a model's work is held to. All of it follows from the fold, so that it holds after a restart and on every
 * machine; what it remembers is in the journal. It says nothing while all is well, and then costs nothing.
 */
export interface Gate {
  readonly name: GateName;
  /** What it does, for whoever reads the table of gates: a sentence without its subject and full stop. */
  readonly about: string;
  /** Before a call is looked at any further; undefined: it may be. The first gate that says something decides. */
  beforeCall?(asked: AskedCall): Instead | undefined;
  /** Once all calls of a turn have their results. */
  afterCalls?(run: Run, modelRun: ModelRun): Word | undefined;
  /** Why the answer goes back to the model, with what the other gates say of it: once per run and gate, and only where the run may ask again. */
  beforeAnswer?(answer: Answer): string | undefined;
  /** Its `beforeAnswer` is asked first, also where the last turn says nothing or is a call that the provider refused. */
  readonly hearsNothing?: true;
  /** The answer's text as people get it, where it goes out whatever the gate said. */
  marked?(answer: Answer): string;
}

export function refuse(text: string): Instead {
  return { do: "refuse", text };
}
