import { createHash } from "node:crypto";
import type { JournalKey } from "../core/journal-key.ts";
import type { Journal } from "../journal/journal.ts";

/** The operations channel: what operators should know, from wherever it happened. */
export interface Ops {
  /**
   * Tells it. Durable when it returns true; the same id is told once, whatever fails on the way. False: no channel is set.
   * @throws BotError STORE_UNAVAILABLE, STORE_FULL
   */
  tell(id: string, text: string): Promise<boolean>;
}

interface OpsParts {
  journal: Pick<Journal, "post">;
  /** `ops` of watchkeeper.yaml, such as `slack:T1:C9`. */
  channel: string | undefined;
  wake(key: JournalKey): void;
}

/** What it is told waits in a journal of its own, which is shown in the channel. */
export function createOps({ journal, channel, wake }: OpsParts): Ops {
  return {
    async tell(id, text) {
      if (channel === undefined) return false;
      const key = opsKey(channel);
      const hash = createHash("sha256").update(id).digest("hex").slice(0, 32);
      await journal.post(key, { id: `alarm:${hash}`, kind: "alarm", text });
      wake(key);
      return true;
    },
  };
}

/** The transport of such journals. */
export const OPS = "ops";

function opsKey(channel: string): JournalKey {
  return `${OPS}:${channel}`;
}

/** The channel that such a journal is shown in. */
export function channelOfOps(key: JournalKey): string {
  return key.slice(OPS.length + 1);
}
