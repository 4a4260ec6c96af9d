import { foldTranscript } from "../../agent/transcript.ts";
import { Transcript } from "../../agent/transcript-turns.ts";
import { noteHeard, nothingHeard } from "../../approvals/heard.ts";
import type { StoredEntry } from "../../core/entry.ts";
import { fold } from "../../thread/fold.ts";
import { Thread } from "../../thread/state.ts";

/** A thread with what else its entries come to. All of it is of the same moment. */
export class Conversation extends Thread {
  /** The thread as its model is told it. */
  readonly transcript = new Transcript();
  /** What came into the thread and from whom. */
  readonly heard = nothingHeard();
}

/** Folds entries in, in place. Stops for good at a newer program's. */
export function foldConversation(
  conversation: Conversation,
  entries: readonly StoredEntry[],
): Conversation {
  fold(conversation, entries);
  const { transcript, heard } = conversation;
  for (const entry of entries) {
    if (entry.kind === "newer" || entry.seq > conversation.last) break;
    foldTranscript(transcript, entry);
    noteHeard(heard, entry);
  }
  return conversation;
}

/** Of a thread in which little was said. */
const LEAST_BYTES = 16 * 1024;
/** Of an id in a set of ids. */
const ID_BYTES = 100;

/** About what it takes in memory: mostly its transcript's text, once as it was said and once as it is told. */
export function bytesOf({ transcript }: Conversation): number {
  const { shown, posted, ids } = transcript;
  return LEAST_BYTES + 4 * shown.chars + ID_BYTES * (posted.size + ids.size);
}
