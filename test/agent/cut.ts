import { type Entry, isPost } from "../../src/core/entry.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { KEY, type Stage } from "../fakes/stage.ts";

/** A journal in which everything up to some moment happened, and then its worker died. */
export async function journalOf(entries: readonly Entry[]): Promise<Journal> {
  const journal = openMemoryJournal();
  for (const { seq, at: _at, head: _head, ...draft } of entries) {
    if (isPost(draft)) {
      await journal.post(KEY, draft);
      continue;
    }
    const granted = await journal.lease(KEY, 60_000);
    if (granted === undefined) throw new Error("no lease");
    const reply = await journal.append(granted.lease, seq - 1, [draft]);
    if (reply.kind !== "ok") throw new Error(`${draft.id}: ${reply.kind}`);
    await journal.release(granted.lease, seq, 0);
  }
  return journal;
}

/** What the world said after that moment, one thing at a time. */
export async function goOn(
  { post, settle }: Pick<Stage, "post" | "settle">,
  later: readonly Entry[],
): Promise<void> {
  await settle();
  for (const { seq: _seq, at: _at, head: _head, ...said } of later.filter(isPost)) {
    await post(said);
    await settle();
  }
}
