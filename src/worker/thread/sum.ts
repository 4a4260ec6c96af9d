import type { MessageRef } from "../../adapters/view.ts";
import { isBotError } from "../../core/errors.ts";
import { summaryOf } from "../../queries/summary.ts";
import { summaryState } from "../../thread/entry-ids.ts";
import type { Learn } from "./parts.ts";
import { NOWHERE } from "./elsewhere.ts";
import { showOn, takeBack } from "./show.ts";

/** The delivery of a thread's one summary. */
const SUMMARY = "summary";

/** Shows what the thread came to in its one summary: an edit, which notifies nobody, or the first time a new message. */
export const sum: Learn<"sum"> = (ctx, step, signal) =>
  showOn(ctx, step, step.key, signal, async (view) => {
    const { key, thread, parts } = ctx;
    const { digest } = thread;
    const entry = summaryState(digest.seq);
    const newest = digest.newest.get(step.view);
    const link = newest === undefined ? undefined : view.linkTo?.(newest);
    const notice = summaryOf(key, thread, link, parts.encoder.encode);
    let ref: MessageRef | undefined = digest.shown.get(step.view)?.ref;
    try {
      if (ref === undefined) {
        // Another process may have posted it and died.
        ref = await view.post(notice, { id: SUMMARY, isRetry: true, isQuiet: true });
      } else await view.updateNotice(ref, notice);
    } catch (error) {
      // It is no more than a help to read: what the platform refuses is not tried for ever.
      if (!isBotError(error, "PLATFORM_REFUSED")) throw error;
      ref ??= NOWHERE;
    }
    const made = ref;
    return { entry, ref: made, takeBack: (from) => takeBack(ctx, from, undefined, made) };
  });
