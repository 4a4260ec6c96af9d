import type { Progress } from "../../adapters/shown.ts";
import { rootOf } from "../../thread/family.ts";
import { meterOf } from "../../thread/meter.ts";
import { isInner, isUndecided, type Run } from "../../thread/state.ts";
import type { ThreadContext } from "./parts.ts";
import { viewOf } from "./places.ts";

/**
 * Tells each view what is being worked on; disposable, so whatever goes wrong with it goes no further. Not once the lease may
 * be another worker's, whose answer may stand there by now.
 */
export function progress(ctx: ThreadContext, run: string, update: Progress): void {
  if (ctx.fenced || performance.now() >= ctx.leaseEndsAt) return;
  const known = ctx.thread.runs.get(run);
  // A helper's work is shown with its parent's.
  const going = known && rootOf(known);
  if (going !== undefined && (isUndecided(going) || going.aside !== undefined)) return;
  const told = "run" in update && going ? { ...update, run: going.started.run } : update;
  for (const view of ctx.thread.views) {
    try {
      viewOf(ctx, view).progress(told, going?.progressMessages.get(view));
    } catch (error) {
      ctx.log.debug({ err: error, key: ctx.key, view }, "progress could not be shown");
    }
  }
}

/** A model is asked for the run's next turn; of a helper's only what all of them have used is told. */
export function showThinking(ctx: ThreadContext, run: Run): void {
  showMeter(ctx, run, run.parent === undefined ? 1 : 0);
}

/** What the run has used so far, as part of what is shown already. */
export function showMeter(ctx: ThreadContext, run: Run, ahead = 0): void {
  const root = rootOf(run);
  const meter = meterOf(root);
  // A goal's work is shown with the goal.
  if (root.modelRun === undefined || isInner(root) || (ahead === 0 && meter === undefined)) return;
  const { run: name } = root.started;
  const step = root.modelRun.steps + ahead;
  progress(ctx, name, { kind: "thinking", run: name, step, ...(meter && { meter }) });
}
