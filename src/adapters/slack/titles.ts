import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { isBotError } from "../../core/errors.ts";
import { shortened } from "../../core/text.ts";
import type { Api } from "./api.ts";
import { refusalCode } from "./errors.ts";
import type { Place } from "./place.ts";

/** Characters of a title (agents.sessions.rename). */
const MAX_TITLE = 200;
/** Threads that have their title. */
const MAX_THREADS = 1_000;
/** The workspace has no agent sessions. */
const ABSENT: ReadonlySet<string> = new Set(["not_allowed", "unknown_method", "missing_scope"]);

/**
 * Gives a direct conversation, which Slack lists by its title, the first sentence of its first answer. An ornament: it may be
 * lost, and nothing waits for it.
 */
export function createTitles(api: Api, log: Logger) {
  const titled = new LRUCache<string, true>({ max: MAX_THREADS });
  let isAbsent = false;

  async function rename({ channel, root }: Place, title: string): Promise<void> {
    try {
      await api.ask("agents.sessions.rename", (client) =>
        client.agents.sessions.rename({ channel_id: channel, thread_ts: root, title }),
      );
    } catch (error) {
      log.debug({ err: error }, "a conversation could not be given its title");
      if (isBotError(error, "PLATFORM_REFUSED")) isAbsent = ABSENT.has(refusalCode(error) ?? "");
    }
  }

  return (place: Place, conclusion: string): void => {
    const key = `${place.channel} ${place.root}`;
    const [line = ""] = conclusion.trim().split("\n");
    if (isAbsent || line === "" || titled.has(key) || !place.channel.startsWith("D")) return;
    titled.set(key, true);
    void rename(place, shortened(line, MAX_TITLE - 1));
  };
}
