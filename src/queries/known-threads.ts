import { LRUCache } from "lru-cache";
import { REMOVED } from "../core/removed.ts";
import { capText } from "../core/text.ts";
import { isBotError } from "../core/errors.ts";
import { inPages } from "../core/pages.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { fold } from "../thread/fold.ts";
import { Thread } from "../thread/state.ts";
import type { Journal } from "../journal/journal.ts";
import type { Encode } from "./cards.ts";

const TITLE_BYTES = 80;

/** Threads whose folds are kept in memory, some KB each. */
const KNOWN_THREADS = 256;

export interface KnownThread {
  thread: Thread;
  title: string;
  /** Messages and typed commands by their posts; the title is the first one's. */
  said: Set<string>;
  /** The commands among them that began another conversation. */
  beginnings: string[];
  /** Typed decisions and Stops by their posts. */
  typed: Set<string>;
}

/** Threads as far as they were read: asking again reads only what is new. */
export function createKnownThreads(journal: Journal, encode: Encode) {
  const known = new LRUCache<JournalKey, KnownThread>({ max: KNOWN_THREADS });

  async function read(key: JournalKey): Promise<KnownThread> {
    const found: KnownThread = known.get(key) ?? {
      thread: new Thread(),
      title: "",
      said: new Set(),
      beginnings: [],
      typed: new Set(),
    };
    const entries = await journal.read(key, found.thread).catch((error: unknown) => {
      if (isBotError(error, "JOURNAL_LOST")) return undefined;
      throw error;
    });
    if (entries === undefined) {
      // The store was set back, and what was folded is of no use.
      known.delete(key);
      return read(key);
    }
    for await (const page of inPages(entries)) {
      for (const entry of page) {
        // Two questions at once may have read the same entries.
        if (entry.seq <= found.thread.last) continue;
        fold(found.thread, [entry]);
        const isSaid = entry.kind === "message" || entry.kind === "command";
        if (isSaid && found.title === "") found.title = titleOf(entry.text, encode);
        if (isSaid) found.said.add(entry.id);
        if (entry.kind === "command" && entry.command.name === "new")
          found.beginnings.push(entry.id);
        if (entry.kind === "click" || entry.kind === "stop") found.typed.add(entry.id);
        const [first] = found.said;
        if (entry.kind === "removed" && entry.of === first) found.title = REMOVED;
      }
    }
    known.set(key, found);
    return found;
  }

  return {
    read,
    /** Whether anything was said there, without reading it. */
    async isKnown(key: JournalKey): Promise<boolean> {
      const { last } = known.get(key)?.thread ?? { last: 0 };
      return last > 0 || journal.has(key);
    },
  };
}

function titleOf(text: string, encode: Encode): string {
  return capText(encode(text).replaceAll("\n", " "), TITLE_BYTES);
}
