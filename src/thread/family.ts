import type { Call } from "./call.ts";
import type { Run, Thread } from "./state.ts";

/** A run, the helpers that it asked for, and theirs. People asked the one that all of them work for. */

/** More of one run's helpers at once wait for each other. */
export const MAX_AT_ONCE = 4;

/** The runs that asked for it, the nearest first. */
export function* askedFor({ parent }: Pick<Run, "parent">): Iterable<Run> {
  for (let run = parent; run !== undefined; run = run.parent) yield run;
}

/** The run that people asked. */
export function rootOf(run: Run): Run {
  let root = run;
  for (const above of askedFor(run)) root = above;
  return root;
}

/** The run and all that it asked for, also through others. */
export function* familyOf(run: Run): Iterable<Run> {
  yield run;
  for (const helper of run.helpers) yield* familyOf(helper);
}

/** The calls of them all. */
export function callsOf(run: Run): Call[] {
  return [...familyOf(run)].flatMap(({ calls }) => [...calls.values()]);
}

/** 0 for a run that people asked, 1 for its helpers, 2 for theirs. */
export function depthOf(run: Pick<Run, "parent">): number {
  return [...askedFor(run)].length;
}

/** The run is the named one, or works for it. */
export function isOf({ runs }: Pick<Thread, "runs">, run: string, named: string): boolean {
  const found = runs.get(run);
  return (
    run === named ||
    (found !== undefined && [...askedFor(found)].some(({ started }) => started.run === named))
  );
}

/** A helper's: the calls that asked for it, each with the run that it began, the outermost first. */
export function pathOf(run: Run): string[] {
  const { parent } = run.started;
  if (parent === undefined) return [];
  return [...(run.parent === undefined ? [] : pathOf(run.parent)), parent.call, run.started.run];
}

/** A run is stopped with all that works for it. `by`: who did, as they are called. */
export function stopRun(run: Run, by?: string): void {
  for (const each of familyOf(run)) {
    if (each.stopped || each.ended !== undefined) continue;
    each.stopped = true;
    if (by !== undefined) each.stoppedBy = by;
  }
}

/** Its helpers are forgotten with it. */
export function forgetRun({ runs }: Thread, run: Run): void {
  for (const { started } of familyOf(run)) runs.delete(started.run);
}

/** How many of the run's helpers are at work. */
export function atWork({ helpers }: Run): number {
  return helpers.filter(({ ended }) => ended === undefined).length;
}

/** The helper that a call asked for, once it has ended and the call does not say so yet. */
export function endedHelper({ runs }: Thread, call: Call): Run | undefined {
  const helper = call.finished === undefined ? runs.get(call.helper ?? "") : undefined;
  return helper?.ended === undefined ? undefined : helper;
}
