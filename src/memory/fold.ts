import type { Entry, StoredEntry } from "../core/entry.ts";
import type { MemoryIndex, Put } from "./index-port.ts";
import { type Again, itemOf, type MemoryItem, type Space, spaceOf, textOf } from "./item.ts";
import { termsIn } from "../core/terms.ts";

/** Threads that found the same again that a record names; those before are a number. */
const MOST_AGAIN = 50;

interface Placed {
  readonly item: MemoryItem;
  readonly space: Space;
}

/**
 * Makes rows of a journal's entries, one after the other: a record is what its thread said last, with the threads that found the same
 * again. Without an index the first entry is the journal's first; else what the entries before made is looked up there.
 */
export function createFold(
  journal: string,
  index: Pick<MemoryIndex, "find" | "spaces"> | undefined,
): (entry: StoredEntry) => Promise<Put[]> {
  const known = new Map<string, Placed | undefined>();

  async function before(id: string): Promise<Placed | undefined> {
    if (known.has(id) || index === undefined) return known.get(id);
    const found = await index.find(id, await index.spaces());
    const own = found.find((each) => each.journal === journal);
    if (own === undefined) return undefined;
    return { item: itemOf(own), space: own.space };
  }

  return async (entry) => {
    if (entry.kind !== "memory") return [];
    const { memory: id, what } = entry;
    if (what.kind === "forgotten") {
      known.set(id, undefined);
      return [{ id, journal, forgotten: true }];
    }
    const placed = what.kind === "note" ? undefined : await before(id);
    const next = folded(placed, entry, spaceOf(entry, journal), journal);
    if (next === undefined) return [];
    if (what.kind !== "note") known.set(id, next);
    return [rowOf(next, entry.seq)];
  };
}

/** Undefined: there is no such record. */
function folded(
  placed: Placed | undefined,
  entry: Entry<"memory">,
  space: Space,
  journal: string,
): Placed | undefined {
  const { memory: id, at, thread, link, what } = entry;
  if (what.kind === "forgotten") return undefined;
  if (what.kind !== "again") {
    // A record that went to another place takes nobody's threads with it.
    const isThere = what.kind === "task" && placed?.space === space;
    const { again, earlier } = isThere ? placed.item : {};
    const seen = { ...(again && { again }), ...(earlier !== undefined && { earlier }) };
    return { item: { id, journal, at, thread, link, what, ...seen }, space };
  }
  if (placed === undefined) return undefined;
  const { again = [], earlier = 0 } = placed.item;
  const others = again.filter((each) => each.thread !== thread);
  // What is no longer for whoever sees the record counts there no more.
  if (what.over === true || placed.space !== space)
    return { ...placed, item: { ...placed.item, again: others } };
  const { begun, certainty, fixes, outcome } = what;
  const own: Again = { thread, link, begun, certainty, fixes, outcome };
  const all = [...others, own];
  const item = { ...placed.item, at, again: all.slice(-MOST_AGAIN) };
  const more = Math.max(0, all.length - MOST_AGAIN);
  return { space: placed.space, item: { ...item, earlier: earlier + more } };
}

function rowOf({ item, space }: Placed, seq: number): Put {
  const { id, journal, at, what } = item;
  const terms = termsIn(textOf(item)).join(" ");
  return { id, journal, seq, at, space, kind: what.kind, item: JSON.stringify(item), terms };
}
