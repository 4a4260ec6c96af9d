import { WHERE_IT_IS } from "../../thread/entry-ids.ts";
import { BotError } from "../../core/errors.ts";
import { platformName, tryJournalKey } from "../../core/journal-key.ts";
import { mirrorOf } from "../../team/mirrors.ts";
import { conclude } from "./conclude.ts";
import type { Learn, ThreadContext } from "./parts.ts";
import { retryUntilStored } from "../store.ts";

/**
 * Says where what is written in a view's place belongs: first for whoever takes it there, then in the journal that the place
 * would have itself. When the view is closed it is the other way round, so that nothing is begun there unseen.
 */
export const point: Learn<"point"> = async (ctx, step) => {
  const { view, isOver } = step;
  const { journal, parts, key } = ctx;
  const place = tryJournalKey(view);
  if (place === undefined) throw new BotError("ENTRY_INVALID", `${view} names no place.`);
  const over = isOver ? ({ over: true } as const) : {};
  const where = whereOf(ctx);
  const id = isOver ? WHERE_IT_IS.over : WHERE_IT_IS.open;
  const posts = [
    () => journal.post(mirrorOf(place), { id, kind: "mirror", of: key, ...over }),
    () => journal.post(place, { id, kind: "moved", to: key, where, ...over }),
  ];
  for (const post of isOver ? posts.toReversed() : posts) await retryUntilStored(ctx, post);
  parts.wakeAt(place, 0);
  return () => conclude(ctx, { ...step, facts: { entry: id, ref: "" } });
};

/** For people. */
function whereOf({ adapter, key }: ThreadContext): string {
  const name = platformName(key);
  const address = adapter.link(key);
  return address === undefined ? name : `${name}: ${address}`;
}
