import { wordsIn } from "../core/spellings.ts";
import type { Embedding } from "./embedding.ts";
import type { MemoryIndex } from "./index-port.ts";
import { type Fix, itemOf, type MemoryItem, type Space, type Task } from "./item.ts";
import { search } from "./search.ts";
import { termsIn } from "../core/terms.ts";

/**
 * Of the words of the longer cause the shorter one has to have so many, and no word of its own: two words that stand for one another are
 * often two services. Missing a duplicate costs a line; joining two faults hides one.
 */
const SAME_CAUSE = 0.8;

/** Records that a new one is compared with (CORE 004.18). */
const COMPARED = 3;
/** Records that are looked through for one that counts a thread already. */
const LOOKED_THROUGH = 32;

/** Words that turn what is said, and that no search compares. */
const TURNS = new Set(["no", "not", "never", "without", "cannot", "none", "nothing", "t"]);

interface Recorded {
  readonly id: string;
  readonly thread: string;
  readonly space: Space;
}

/** Finds the record that says a thread's already, among those most alike of the same audience, and the one that counts the thread now. */
export function createDuplicates(index: MemoryIndex, embedding: Embedding) {
  return async ({ id, thread, space }: Recorded, task: Task) => {
    // What has a record of its own keeps it.
    if ((await index.find(id, await index.spaces())).length > 0) return {};
    const terms = termsIn(task.question).slice(0, LOOKED_THROUGH);
    const wanted = { kind: "task", limit: LOOKED_THROUGH } as const;
    const known = (await index.matching(terms, await index.spaces(), wanted)).map(itemOf);
    const before = known.find(({ again = [] }) => again.some((each) => each.thread === thread));
    const text = [task.question, task.cause].join("\n");
    const vector = await embedding.question(text, thread);
    const options = { kind: "task", limit: COMPARED, vector } as const;
    const found = (await search(index, text, [space], options)).map(({ candidate }) => candidate);
    const items = [
      ...(before === undefined ? [] : await index.find(before.id, [space])),
      ...found,
    ].map(itemOf);
    return { before, same: items.find(({ what }) => isSameFault(what, task)) };
  };
}

/**
 * Whether two records are of the same fault: their causes say the same, and so do their questions, or the same was done about both,
 * which names what it was done to. Without a cause nothing is known to be the same.
 */
function isSameFault(one: MemoryItem["what"], other: Task): boolean {
  if (one.kind !== "task" || one.cause === undefined || other.cause === undefined) return false;
  if (!saysTheSame(one.cause, other.cause, SAME_CAUSE)) return false;
  return saysTheSame(one.question, other.question, 0) || haveOneFix(one.fixes, other.fixes);
}

/** The shorter one has no word that the longer lacks, and at least that part of its words. */
function saysTheSame(one: string, other: string, part: number): boolean {
  const [few, many] = [new Set(termsIn(one)), new Set(termsIn(other))].toSorted(
    (a, b) => a.size - b.size,
  );
  if (few === undefined || many === undefined || few.size === 0) return false;
  const isExact = (term: string) => /\p{N}/u.test(term);
  // `web-1`, 502, 5432: one that only one of them names may be another one.
  return (
    [...few].every((term) => many.has(term)) &&
    few.size >= part * many.size &&
    turnsIn(one) === turnsIn(other) &&
    [...many].filter(isExact).every((term) => few.has(term))
  );
}

function turnsIn(text: string): number {
  return wordsIn(text).filter((word) => TURNS.has(word)).length;
}

function haveOneFix(some: readonly Fix[], others: readonly Fix[]): boolean {
  return some.some(({ tool, title }) =>
    others.some((other) => other.tool === tool && other.title === title),
  );
}
