import { createHash } from "node:crypto";
import type { JournalKey } from "../core/journal-key.ts";
import type { Journal } from "../journal/journal.ts";

/** The operations channel: what operators should know, from wherever it happened. */
export interface Ops {
  /**
   * Tells it. Kept when it returns true; the same id is told once, whatever fails on the way. False: no channel is set.
   * @throws BotError STORE_UNAVAILABLE, STORE_FULL
   */
  tell(id: string, text: string): Promise<boolean>;
}

interface TellParts {
  journal: Pick<Journal, "post">;
  wake(key: JournalKey): void;
}

interface OpsParts extends TellParts {
  /** `ops` of watchkeeper.yaml, such as `slack:T1:C9`. */
  channel: string | undefined;
}

export function createOps({ channel, ...parts }: OpsParts): Ops {
  return {
    async tell(id, text) {
      if (channel === undefined) return false;
      await tellChannel(parts, channel, id, text);
      return true;
    },
  };
}

/**
 * Tells a channel, once per id. What it is told waits in a journal of its own, which is shown in the channel.
 * @throws BotError STORE_UNAVAILABLE, STORE_FULL
 */
export async function tellChannel(
  { journal, wake }: TellParts,
  channel: string,
  id: string,
  text: string,
): Promise<void> {
  const key = opsKey(channel);
  const hash = createHash("sha256").update(id).digest("hex").slice(0, 32);
  await journal.post(key, { id: `alarm:${hash}`, kind: "alarm", text });
  wake(key);
}

/** The transport of such journals, also of the channels that are told of incidents. */
export const OPS = "ops";

function opsKey(channel: string): JournalKey {
  return `${OPS}:${channel}`;
}

/** The channel that such a journal is shown in. */
export function channelOfOps(key: JournalKey): string {
  return key.slice(OPS.length + 1);
}
