import type { Progress, View } from "../../adapters/adapter.ts";
import { BotError } from "../../core/errors.ts";
import { transportOf, tryJournalKey } from "../../core/journal-key.ts";
import { isUndecided, MAIN_VIEW } from "../../thread/state.ts";
import type { ThreadContext } from "./parts.ts";

/** The view of that name, as it is now. @throws BotError NOT_AVAILABLE when this process does not show it */
export function viewOf({ parts, adapter, key }: ThreadContext, name: string = MAIN_VIEW): View {
  const shown = name === MAIN_VIEW ? key : tryJournalKey(name);
  const from =
    name === MAIN_VIEW || shown === undefined ? adapter : parts.adapterOf(transportOf(shown));
  const view = shown === undefined ? undefined : from?.view(shown);
  if (view !== undefined) return view;
  throw new BotError("NOT_AVAILABLE", `${name} of ${key} is not shown by this process.`);
}

/**
 * Tells the view what is being worked on; disposable, so whatever goes wrong with it goes no further. Not once the lease may
 * be another worker's, whose answer may stand there by now.
 */
export function progress(ctx: ThreadContext, run: string, update: Progress): void {
  if (ctx.fenced || performance.now() >= ctx.leaseEndsAt) return;
  try {
    const going = ctx.thread.runs.get(run);
    if (going !== undefined && isUndecided(going)) return;
    const begun = going?.progressMessages.get(MAIN_VIEW);
    viewOf(ctx).progress(update, begun);
  } catch (error) {
    ctx.log.debug({ err: error, key: ctx.key }, "progress could not be shown");
  }
}
