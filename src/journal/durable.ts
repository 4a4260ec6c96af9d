import type { Draft, PostKind } from "../core/entry.ts";
import { BotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { Journal } from "./journal.ts";

/**
 * Posts what somebody is then told to have arrived: when it returns, neither the machine's death nor a failover loses it.
 * @throws what `Journal.post` throws; the same may be posted again
 */
export async function postDurably(
  journal: Pick<Journal, "post" | "flush">,
  key: JournalKey,
  draft: Draft<PostKind>,
): ReturnType<Journal["post"]> {
  const posted = await journal.post(key, draft);
  const { seq, head } = posted.entry;
  if ((await journal.flush(key, { last: seq, head })) === "ok") return posted;
  const text = `The store lost ${draft.id} of ${key} before it was kept for good, as in a failover; it can be sent again.`;
  throw new BotError("STORE_UNAVAILABLE", text);
}
