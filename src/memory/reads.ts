import { wordsIn } from "../core/spellings.ts";
import { maySee, type Viewer } from "../core/viewer.ts";
import { type Case, casesOf } from "./cases.ts";
import type { Embedding } from "./embedding.ts";
import type { MemoryIndex, Wanted } from "./index-port.ts";
import { belongingOf, itemOf, type MemoryItem, type Space } from "./item.ts";
import { nameOf } from "./names.ts";
import type { Floor } from "./policy.ts";
import { search } from "./search.ts";
import { createTextSearch, type TextPart, type TextSearch } from "./texts.ts";

interface Remembered {
  readonly item: MemoryItem;
}

interface SearchOptions extends Partial<Wanted>, Partial<Floor> {}

/** What only looks. What a viewer may not see does not exist for them. */
export interface Reads {
  /** The best first. */
  search(text: string, viewer: Viewer, options?: SearchOptions): Promise<Remembered[]>;
  /** The cases and notes that are alike, the best first: an incident and the record of its thread are one. */
  alike(text: string, viewer: Viewer, floor: Floor): Promise<Case[]>;
  /** The notes that have all of these words; without any word none. */
  notesWith(text: string, viewer: Viewer): Promise<MemoryItem[]>;
  /** The newest first. */
  newest(viewer: Viewer, wanted: Wanted): Promise<MemoryItem[]>;
  get(id: string, viewer: Viewer): Promise<MemoryItem | undefined>;
  /**
   * Looks through parts of texts of the program's own folders, which everybody may see. Their vectors are made with the first
   * question that may go to the provider itself.
   */
  among(parts: readonly TextPart[]): TextSearch;
}

interface ReadsParts {
  readonly index: MemoryIndex;
  readonly embedding: Embedding;
  encode(text: string): string;
  /** Takes in what is new. False: nothing was ever remembered. */
  feed(): Promise<boolean>;
}

/** Records that are counted together. */
const MOST_ALIKE = 50;

export function createReads({ index, embedding, encode, feed }: ReadsParts): Reads {
  async function fed(viewer: Viewer): Promise<Space[]> {
    // Nothing was ever remembered: the index need not begin.
    if (!(await feed())) return [];
    await embedding.items();
    return (await index.spaces()).filter((space) => maySee(viewer, belongingOf(space)));
  }

  async function searchIn(
    spaces: readonly Space[],
    text: string,
    { thread, ...options }: SearchOptions & Pick<Viewer, "thread">,
  ): Promise<Remembered[]> {
    const vector = spaces.length === 0 ? undefined : await embedding.question(encode(text), thread);
    const found = await search(index, text, spaces, { ...options, vector });
    return found.map(({ candidate }) => ({ item: itemOf(candidate) }));
  }

  return {
    search: async (text, viewer, options = {}) =>
      searchIn(await fed(viewer), text, { ...options, thread: viewer.thread }),
    async alike(text, viewer, floor) {
      const spaces = await fed(viewer);
      const found = await searchIn(spaces, text, {
        limit: MOST_ALIKE,
        ...floor,
        thread: viewer.thread,
      });
      const items = found.map(({ item }) => item);
      const known = new Set(items.map(({ id }) => id));
      for (const { thread, what } of items.slice()) {
        // Its thread's own words may be about something else.
        const of = what.kind === "incident" ? nameOf(thread) : undefined;
        if (of === undefined || known.has(of)) continue;
        known.add(of);
        items.push(...(await index.find(of, spaces)).map(itemOf));
      }
      return casesOf(items);
    },
    async notesWith(text, viewer) {
      const wanted = { kind: "note", limit: MOST_ALIKE } as const;
      const words = wordsIn(text);
      const { thread } = viewer;
      const all = await searchIn(await fed(viewer), text, { ...wanted, thread });
      const found = all.map(({ item }) => item);
      return found.filter(({ what }) => {
        const has = new Set(what.kind === "note" ? wordsIn(what.text) : []);
        return words.every((word) => has.has(word));
      });
    },
    async newest(viewer, wanted) {
      return (await index.newest(await fed(viewer), wanted)).map(itemOf);
    },
    async get(id, viewer) {
      const [found] = await index.find(id.trim().toLowerCase(), await fed(viewer));
      return found && itemOf(found);
    },
    among: (parts) => createTextSearch(parts, { embedding, encode }),
  };
}
