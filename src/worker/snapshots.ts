import type { Granted } from "../journal/journal.ts";
import type { Folded, JournalContext, KeyHandler, WorkerParts } from "./key-handler.ts";

/** A shorter journal is folded in the time that a snapshot takes. */
const LEAST = 512;
/** As many entries are folded in a few milliseconds. */
const EVERY = 128;

/**
 * A journal's fold as far as it was kept, else an empty one: what follows is yet to be read. A snapshot is a cache: whatever is
 * wrong with it, the entries say it all.
 */
export async function takeUp(
  { journal, log }: WorkerParts,
  { snapshots, empty }: KeyHandler,
  { lease: { key }, last }: Granted,
): Promise<Folded> {
  if (snapshots === undefined || last < LEAST) return empty();
  try {
    const kept = await journal.snapshot(key, snapshots.version);
    const state = kept && snapshots.decode(kept.bytes);
    if (state !== undefined && state.last === kept?.last && state.head === kept.head) return state;
  } catch (error) {
    log.warn({ err: error, key }, "a snapshot could not be read; all entries are");
  }
  return empty();
}

/** Keeps the fold of a journal that was released, every so many entries. `began`: how far it was folded when it was taken up. */
export async function keepSnapshot(
  { handler: { snapshots }, state, journal, key, log }: JournalContext,
  began: number,
): Promise<void> {
  const { last, head } = state;
  const isDue = last >= LEAST && Math.floor(last / EVERY) > Math.floor(began / EVERY);
  if (snapshots === undefined || !isDue || head === undefined) return;
  try {
    const { version } = snapshots;
    const bytes = snapshots.encode(state);
    if (bytes !== undefined) await journal.keepSnapshot(key, { version, last, head, bytes });
  } catch (error) {
    log.warn({ err: error, key }, "a snapshot could not be kept");
  }
}
