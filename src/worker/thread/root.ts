import type { MessageRef, View } from "../../adapters/view.ts";
import { isBotError } from "../../core/errors.ts";
import { rootOf } from "../../queries/alerts.ts";
import { cardState } from "../../thread/entry-ids.ts";
import { fold } from "../../thread/fold.ts";
import { ROOT } from "../../thread/fold-root.ts";
import { Thread } from "../../thread/state.ts";
import { retryUntilStored } from "../store.ts";
import type { Learn, ThreadContext } from "./parts.ts";
import { NOWHERE } from "./elsewhere.ts";
import { showOn, shownAs } from "./show.ts";

/** Has the message in the channel that the thread began with say how its alerts stand. */
export const root: Learn<"root"> = (ctx, step, signal) =>
  showOn(ctx, step, step.key, signal, async (view) => {
    const { thread } = ctx;
    const entry = cardState(ROOT, thread.root.touched);
    const before = thread.root.shown?.ref;
    let ref: MessageRef;
    try {
      ref = (await view.showRoot?.(rootOf(thread, shownAs(ctx.parts)), before)) ?? "";
    } catch (error) {
      // The thread says it too: what the platform refuses is not tried for ever.
      if (!isBotError(error, "PLATFORM_REFUSED")) throw error;
      ref = before ?? NOWHERE;
    }
    const made = ref;
    return { entry, ref: made, takeBack: (from) => showNewest(ctx, from, made) };
  });

/** Another worker serves the thread now, and may have shown what is newer. */
async function showNewest(ctx: ThreadContext, view: View, shown: MessageRef): Promise<void> {
  const entries = await retryUntilStored(ctx, () => ctx.journal.read(ctx.key));
  const thread = fold(new Thread(), entries);
  await view.showRoot?.(rootOf(thread, shownAs(ctx.parts)), shown);
}
