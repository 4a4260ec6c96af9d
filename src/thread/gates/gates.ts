import { type GateName, hasGate, STANDARD_GATES } from "../../core/gates.ts";
import type { Call } from "../call.ts";
import { isCheck } from "../checking.ts";
import type { ModelRun } from "../model-run.ts";
import type { Run } from "../state.ts";
import { cut } from "./cut.ts";
import { denied } from "./denied.ts";
import { evidence } from "./evidence.ts";
import type { Answer, AskedCall, Gate, Instead, Word } from "./gate.ts";
import { known } from "./known.ts";
import { lastWord } from "./last-word.ts";
import { limit } from "./limit.ts";
import { narrowed } from "./narrowed.ts";
import { phases } from "./phases.ts";
import { plan } from "./plan.ts";
import { planning } from "./planning.ts";
import { recovery } from "./recovery.ts";
import { replan } from "./replan.ts";
import { required } from "./required.ts";
import { stuck } from "./stuck.ts";
import { synthesis } from "./synthesis.ts";
import { unmade } from "./unmade.ts";
import { verification } from "./verification.ts";

/** Every gate there is, in the order in which they are heard. */
export const GATES: readonly Gate[] = [
  unmade,
  lastWord,
  known,
  phases,
  narrowed,
  limit,
  denied,
  recovery,
  planning,
  plan,
  stuck,
  replan,
  cut,
  evidence,
  required,
  verification,
  synthesis,
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
  { terms, effect }: Pick<AskedCall, "terms" | "effect">,
): Heard<Instead> | undefined {
  const { modelRun } = run;
  if (modelRun === undefined || isCheck(run, call.call)) return undefined;
  for (const { name, ...gate } of gatesOf(modelRun)) {
    const instead = gate.beforeCall?.({ call, run, modelRun, terms, effect });
    if (instead !== undefined) return { ...instead, gate: name };
  }
  return undefined;
}

/**
 * What the model is told before it is asked again, by every gate that has a word; nothing once it may only answer. Who has it answer
 * speaks alone, and so does who ends the run.
 */
export function afterCalls(run: Run, modelRun: ModelRun): Heard<Word>[] {
  if (modelRun.toolsOff !== undefined) return [];
  const words = gatesOf(modelRun).flatMap(({ name, ...gate }) => {
    const word = gate.afterCalls?.(run, modelRun);
    return word === undefined ? [] : [{ ...word, gate: name }];
  });
  const ends = words.find((word) => word.ends !== undefined);
  if (ends !== undefined) return [ends];
  const last = words.find((word) => word.ends === undefined && word.toolsOff);
  return last === undefined ? words : [last];
}

/**
 * Why the answer goes back to the model: all that its gates have to say, at once. Each gate sends back once in a run. What was cut off
 * or says nothing is judged by no other gate.
 */
export function beforeAnswer(answer: Answer): Heard<{ text: string }>[] {
  const heard = new Set<string>(answer.modelRun.gates.map(({ gate }) => gate));
  const gates = gatesOf(answer.modelRun).filter(({ name }) => !heard.has(name));
  const wordsOf = (some: readonly Gate[]) =>
    some.flatMap(({ name, ...gate }) => {
      const text = gate.beforeAnswer?.(answer);
      return text === undefined ? [] : [{ text, gate: name }];
    });
  const unfinished = wordsOf(gates.filter(({ hearsNothing }) => hearsNothing));
  if (unfinished.length > 0) return unfinished;
  const isSaid = answer.text !== "" && answer.last.stop !== "malformed_call";
  return isSaid ? wordsOf(gates.filter(({ hearsNothing }) => !hearsNothing)) : [];
}

/** The answer's text as people get it. */
export function markedText(answer: Answer): string {
  return gatesOf(answer.modelRun).reduce(
    (text, gate) => gate.marked?.({ ...answer, text }) ?? text,
    answer.text,
  );
}
