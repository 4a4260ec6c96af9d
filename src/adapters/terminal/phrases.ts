import type { JournalKey } from "../../core/journal-key.ts";
import { shortKey } from "./lists.ts";
import type { Paint } from "./style.ts";
import { wrapWords } from "./wrap.ts";

/** What this screen says itself, besides messages and cards. */

export const PASTED = "Pasted text can't approve or deny, so I didn't send it. Type your answer.";

/** To a letter that answers cards. */
export const NOTHING_OPEN = "Nothing here waits for that, so I didn't send it.";

export const EDIT_HINT =
  "Enter keeps an argument as it is. In a list, an empty line removes that element; after the last one it ends the list. Ctrl-C changes nothing.";

export const NOTHING_CHANGED = "Nothing was changed, so nothing was sent.";

export const STOPPING = "Stopping…";

export const STILL_STOPPING = "Still stopping. Ctrl-D leaves; the thread keeps what happened.";

export const HOW_TO_LEAVE = "Ctrl-D or /exit to leave";

/** What a printed message that should be deleted is followed by. */
export const DELIVERED_TWICE = "The last message was delivered twice; it counts once.";

const WHAT = "I check your servers and services with real tools and ask before any change.";
const HOW = "help shows what you can type, exit leaves.";

interface GreetingParts {
  isNew: boolean;
  note: string | undefined;
  paint: Paint;
  columns: number;
}

/** Above a thread; `isNew`: nothing was said in it yet. */
export function greeting(key: JournalKey, { isNew, note, paint, columns }: GreetingParts): string {
  const thread = `· ${isNew ? "new thread" : "thread"} ${shortKey(key)}`;
  const title = `${paint("bold", "Watchkeeper")} ${paint("dim", thread)}`;
  if (!isNew) return title;
  const how = [HOW, ...(note === undefined ? [] : [note])]
    .flatMap((text) => wrapWords(text, columns))
    .map((line) => paint("dim", line));
  return [title, ...wrapWords(WHAT, columns), ...how].join("\n");
}
