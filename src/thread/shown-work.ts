import { summaryDueAt } from "./digest.ts";
import { nextEditAt } from "./fold-living.ts";
import { type Run, isInner, isUndecided, MAIN_VIEW, type Thread } from "./state.ts";
import { workKey } from "./work-keys.ts";
import type { Scenery } from "./machines.ts";

/** When a view is owed a sign of work under way, and a summary of a thread that has been quiet. */

export interface Showing extends Scenery {
  /** A run that has been at work for as long gets a message that shows its progress. Undefined: no view here has such. */
  showAfterMs: number | undefined;
  /** A long thread that has been quiet for so long is summed up. Undefined: no view here shows summaries. */
  sumAfterMs?: number | undefined;
}

/** Runs at work whose progress has no message yet. What waits for people is shown by its card or question. */
export function unshown(
  thread: Thread,
  { showAfterMs, draining }: Showing,
): { view: string; run: Run; at: number }[] {
  if (showAfterMs === undefined || draining || thread.parked) return [];
  return thread.views.flatMap((view) =>
    [...thread.going]
      .filter((run) => !run.progressMessages.has(view) && isShownSo(run) && isAtWork(run))
      .map((run) => ({ view, run, at: run.started.at + showAfterMs })),
  );
}

/** An ornament: while anything is at work it waits. */
function unsummed(thread: Thread, { sumAfterMs }: Showing): { view: string; at: number }[] {
  if (sumAfterMs === undefined || [...thread.going].some(isAtWork)) return [];
  return thread.views.flatMap((view) => {
    const at = summaryDueAt(thread.digest, view, sumAfterMs);
    return at === undefined ? [] : [{ view, at }];
  });
}

/** When the message in the channel is to say how the alerts stand, ms since 1970; undefined: it does. */
function rootDueAt({ root: { shown, touched } }: Pick<Thread, "root">): number | undefined {
  if ((shown?.seq ?? 0) >= touched) return undefined;
  return shown === undefined ? 0 : nextEditAt(shown);
}

/** What helps to read and nobody waits for, and when it may be shown. */
type Ornament = { do: "root" | "sum"; key: string; view: string; at: number };

export function ornaments(thread: Thread, showing: Showing): Ornament[] {
  const sums = unsummed(thread, showing).map((each): Ornament => ({
    do: "sum",
    key: workKey.summary(each.view),
    ...each,
  }));
  const at = rootDueAt(thread);
  if (at === undefined) return sums;
  return [{ do: "root", key: workKey.root, view: MAIN_VIEW, at }, ...sums];
}

/** A helper's work is shown with its parent's, and a goal's with that. */
function isShownSo(run: Run): boolean {
  return run.aside === undefined && !isInner(run);
}

function isAtWork(run: Run): boolean {
  const { open, modelRun } = run;
  if (isUndecided(run)) return false;
  if (open.size === 0) return modelRun !== undefined;
  return [...open.values()].some(({ call, action, asked, started }) => {
    const helper = run.helpers.find((each) => each.started.parent?.call === call);
    if (helper !== undefined) return helper.ended !== undefined || isAtWork(helper);
    return started !== undefined || (action === undefined && asked === undefined);
  });
}
