import { type GateName, hasGate, STANDARD_GATES } from "../../core/gates.ts";
import type { RunTerms } from "../../core/run-terms.ts";
import type { Call } from "../call.ts";
import { isCheck } from "../checking.ts";
import type { ModelRun } from "../model-run.ts";
import type { Run } from "../state.ts";
import { cut } from "./cut.ts";
import { denied } from "./denied.ts";
import { evidence } from "./evidence.ts";
import type { Answer, Gate, Instead, Word } from "./gate.ts";
import { known } from "./known.ts";
import { lastWord } from "./last-word.ts";
import { limit } from "./limit.ts";
import { narrowed } from "./narrowed.ts";
import { plan } from "./plan.ts";
import { stuck } from "./stuck.ts";
import { unmade } from "./unmade.ts";

/** Every gate there is, in the order in which they are heard. */
export const GATES: readonly Gate[] = [
  unmade,
  lastWord,
  known,
  narrowed,
  limit,
  denied,
  plan,
  stuck,
  cut,
  evidence,
];

/** Those that the run began with: later changes of the configuration do not change it. */
function gatesOf({ terms: { gates = STANDARD_GATES } }: ModelRun): readonly Gate[] {
  return GATES.filter(({ name }) => hasGate(gates, name));
}

/** What a gate says, and which one. */
export type Heard<T> = T & { gate: GateName };

/** What becomes of a model's call without its being looked at any further, or undefined. */
export function beforeCall(
  call: Call,
  run: Run,
  terms: RunTerms | undefined,
): Heard<Instead> | undefined {
  const { modelRun } = run;
  if (modelRun === undefined || isCheck(run, call.call)) return undefined;
  for (const { name, ...gate } of gatesOf(modelRun)) {
    const instead = gate.beforeCall?.({ call, run, modelRun, terms });
    if (instead !== undefined) return { ...instead, gate: name };
  }
  return undefined;
}

/** What the model is told before it is asked again; nothing once it may only answer. */
export function afterCalls(run: Run, modelRun: ModelRun): Heard<Word> | undefined {
  if (modelRun.toolsOff !== undefined) return undefined;
  for (const { name, ...gate } of gatesOf(modelRun)) {
    const word = gate.afterCalls?.(run, modelRun);
    if (word !== undefined) return { ...word, gate: name };
  }
  return undefined;
}

/** Why the answer goes back to the model; each gate sends back once in a run. */
export function beforeAnswer(answer: Answer): Heard<{ text: string }> | undefined {
  const heard = new Set<string>(answer.modelRun.gates.map(({ gate }) => gate));
  const isSaid = answer.text !== "" && answer.last.stop !== "malformed_call";
  for (const { name, hearsNothing = false, ...gate } of gatesOf(answer.modelRun)) {
    if (!(isSaid || hearsNothing) || heard.has(name)) continue;
    const text = gate.beforeAnswer?.(answer);
    if (text !== undefined) return { text, gate: name };
  }
  return undefined;
}

/** The answer's text as people get it. */
export function markedText(answer: Answer): string {
  return gatesOf(answer.modelRun).reduce(
    (text, gate) => gate.marked?.({ ...answer, text }) ?? text,
    answer.text,
  );
}
