import type { Entry, StoredEntry } from "../core/entry.ts";
import { BotError, isBotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { createTurns } from "../core/turns.ts";
import type { Journal, Position } from "../journal/journal.ts";

/**
 * A journal that is folded again and again: what it returns asks the store only for what was added since. A store that was set
 * back is read from its beginning.
 * @throws BotError STORE_NEWER, and what the store throws
 */
export function createFollower<State>(
  journal: Pick<Journal, "read">,
  key: JournalKey,
  begin: () => State,
  add: (state: State, entry: Entry) => void,
): () => Promise<State> {
  let state = begin();
  let folded: Position = 0;
  const turns = createTurns<"read">();

  async function added(): Promise<StoredEntry[]> {
    try {
      return await journal.read(key, folded);
    } catch (error) {
      if (folded === 0 || !isBotError(error, "JOURNAL_LOST")) throw error;
      [state, folded] = [begin(), 0];
      return journal.read(key);
    }
  }

  return async () =>
    turns("read", async () => {
      for (const entry of await added()) {
        if (entry.kind === "newer") {
          const text = `A newer version of this program wrote ${key}; start that one.`;
          throw new BotError("STORE_NEWER", text);
        }
        add(state, entry);
        folded = { last: entry.seq, head: entry.head };
      }
      return state;
    });
}
