import type { JournalKey } from "../core/journal-key.ts";
import { transportOf, tryJournalKey } from "../core/journal-key.ts";
import type { Journal } from "../journal/journal.ts";

/**
 * Threads that are shown in more than one place. What is said in such a place belongs to the thread's own journal; which one
 * that is, the first entry of `mirror:<place>` says once and for every process.
 */

const PREFIX = "mirror:";

/** The journal that says whose view the place is. */
export function mirrorOf(place: JournalKey): JournalKey {
  return `${PREFIX}${place}`;
}

export function createMirrors(journal: Pick<Journal, "read" | "list">) {
  async function homeOf(place: JournalKey): Promise<JournalKey> {
    const entries = await journal.read(mirrorOf(place));
    const [first] = entries;
    const isOver = entries.some((entry) => entry.kind === "mirror" && entry.over === true);
    const home = first?.kind === "mirror" && !isOver ? tryJournalKey(first.of) : undefined;
    return home ?? place;
  }

  return {
    /** The journal that what is said in this place belongs to: its own, unless it is another thread's view. @throws as the store */
    homeOf,
    /** The places whose keys begin so and that are views of other threads, each with the thread. */
    async among(prefix: string): Promise<{ place: JournalKey; home: JournalKey }[]> {
      const found: { place: JournalKey; home: JournalKey }[] = [];
      for await (const { key } of journal.list({ prefix: `${PREFIX}${prefix}` })) {
        const place = tryJournalKey(key.slice(PREFIX.length));
        if (place === undefined) continue;
        const home = await homeOf(place);
        if (home !== place && transportOf(home) !== "mirror") found.push({ place, home });
      }
      return found;
    },
  };
}

export type Mirrors = ReturnType<typeof createMirrors>;
