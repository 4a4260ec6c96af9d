import type { Entry } from "../core/entry.ts";
import { type JournalKey, tenantOf } from "../core/journal-key.ts";
import type { Journal } from "../journal/journal.ts";
import { createFollower } from "./follow.ts";

/** What people say of answers: a record like a freeze's, which anyone folds and nobody has to work on. */
export const TEAM_FEEDBACK: JournalKey = "team:feedback";

/** One person's newest word on one answer. */
type Word = Pick<
  Entry<"feedback">,
  "actor" | "at" | "thread" | "run" | "link" | "audience" | "helpful" | "reason"
>;

/** Counts the words of these tenants, and reads those of public places and of exactly this private one. */
interface Viewer {
  audience: string | undefined;
  tenants: readonly string[] | "all";
}

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
    async list({ audience, tenants }) {
      const words = [...(await read()).values()].toReversed();
      return words.flatMap((word) => {
        const tenant = tenantOf(word.thread);
        const isOwn = tenants === "all" || (tenant !== undefined && tenants.includes(tenant));
        const isHere = word.audience !== undefined && word.audience === audience;
        const readable = isHere || (isOwn && word.audience === undefined);
        return isOwn || isHere ? [{ ...word, readable }] : [];
      });
    },
  };
}
