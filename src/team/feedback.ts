import type { Entry } from "../core/entry.ts";
import { type JournalKey, tenantOf } from "../core/journal-key.ts";
import { isOfTenants, maySee, type Viewer } from "../core/viewer.ts";
import type { Journal } from "../journal/journal.ts";
import { createFollower } from "./follow.ts";

/** What people say of answers: a record like a freeze's, which anyone folds and nobody has to work on. */
export const TEAM_FEEDBACK: JournalKey = "team:feedback";

/** One person's newest word on one answer. */
type Word = Pick<
  Entry<"feedback">,
  "actor" | "at" | "thread" | "run" | "link" | "audience" | "helpful" | "reason"
>;

export interface Feedback {
  /** Of each person and answer the newest word, the newest first; `readable`: where it was said may be seen from here. */
  list(viewer: Viewer): Promise<(Word & { readable: boolean })[]>;
}

export function createFeedback(journal: Pick<Journal, "read">): Feedback {
  const read = createFollower<Map<string, Word>>(
    journal,
    TEAM_FEEDBACK,
    () => new Map(),
    (words, entry) => {
      if (entry.kind !== "feedback") return;
      const of = [entry.thread, entry.run, entry.actor.account].join("\n");
      const before = words.get(of);
      // Whoever presses the same button again has not taken back why.
      const why = before?.helpful === entry.helpful ? before.reason : undefined;
      const { reason = why, ...word } = entry;
      words.delete(of);
      words.set(of, { ...word, ...(reason !== undefined && { reason }) });
    },
  );
  return {
    async list(viewer) {
      const words = [...(await read()).values()].toReversed();
      return words.flatMap((word) => {
        const { audience, thread } = word;
        const tenant = tenantOf(thread);
        const readable = maySee(viewer, { audience, tenant });
        return readable || isOfTenants(viewer, tenant) ? [{ ...word, readable }] : [];
      });
    },
  };
}
