import type { JournalKey } from "../../core/journal-key.ts";
import type { Queries } from "../queries.ts";
import type { Board } from "./board.ts";

/** How long nothing may have been shown before it counts as quiet: one pass of a worker shows several things. */
const PASS_MS = 250;
/** The same while something was asked and nothing has been heard since. A few words (`stop`) have no answer. */
const UNHEARD_MS = 2_000;

/** What a screen knows of its thread that the journals do not say. */
export interface Watched {
  key: JournalKey;
  board: Board;
  running: number;
  unheard: boolean;
  idleMs: number;
}

/** True when nothing more will come by itself: all is answered, or cards and questions wait for a person, and are shown. */
export async function isQuiet(queries: Queries, watched: Watched): Promise<boolean> {
  const { key, board, running, unheard, idleMs } = watched;
  if (running > 0 || idleMs < (unheard ? UNHEARD_MS : PASS_MS)) return false;
  const thread = await queries.thread(key);
  if (thread === undefined) return true;
  if (thread.open) return false;
  const { open } = board.answerable();
  return (
    thread.openActions.every((action) => open.has(action)) &&
    thread.questions.every((call) => board.hasAsked(call))
  );
}
