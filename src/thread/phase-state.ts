import type { GateWord, Phase } from "../core/gates.ts";
import { globMatches } from "../core/glob.ts";
import type { Outcome } from "../core/entry.ts";

/** Where a run stands in its phases (`gates/phases.ts`). */
export interface PhaseState {
  /** Its phase's place in the list. */
  readonly at: number;
  /** Calls that went well in it. */
  readonly ok: number;
  /** What it ends after was called. */
  readonly isAfter: boolean;
  /** Calls that failed in it, in a row. */
  readonly failed: number;
  /** By tool: calls that it did not allow. */
  readonly refused: Readonly<Record<string, number>>;
}

export const FIRST_PHASE: PhaseState = { at: 0, ok: 0, isAfter: false, failed: 0, refused: {} };

/** Failed calls in a row after which a phase gives way to its fallback. */
const MAX_FAILED = 3;

/** Where a run stands once a call has its result. */
export function nextPhase(
  phases: readonly Phase[],
  state: PhaseState,
  { tool, outcome, gate }: { tool: string; outcome: Outcome; gate: GateWord | undefined },
): PhaseState {
  // A helper is refused by the phase of the main run and has none of its own.
  if (gate === "phases")
    return { ...state, refused: { ...state.refused, [tool]: (state.refused[tool] ?? 0) + 1 } };
  const phase = phases[state.at];
  if (phase === undefined || gate !== undefined) return state;
  if (outcome === "error") {
    const failed = state.failed + 1;
    const at = phases.findIndex(({ name }) => name === phase.fallback);
    return failed >= MAX_FAILED && at >= 0 ? { ...FIRST_PHASE, at } : { ...state, failed };
  }
  if (outcome !== "ok") return state;
  const ok = state.ok + 1;
  const isAfter = state.isAfter || (phase.after ?? []).some((glob) => globMatches(glob, tool));
  const ends = phase.calls !== undefined || phase.after !== undefined;
  const isOver = ends && ok >= (phase.calls ?? 0) && (phase.after === undefined || isAfter);
  if (isOver && state.at < phases.length - 1) return { ...FIRST_PHASE, at: state.at + 1 };
  return { ...state, ok, isAfter, failed: 0 };
}
