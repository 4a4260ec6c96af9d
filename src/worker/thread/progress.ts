import type { Progress } from "../../adapters/shown.ts";
import { rootOf } from "../../thread/family.ts";
import { isUndecided } from "../../thread/state.ts";
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
