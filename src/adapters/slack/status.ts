import type { Logger } from "pino";
import { isBotError } from "../../core/errors.ts";
import { createTurns } from "../../core/turns.ts";
import type { Api } from "./api.ts";
import { refusalCode } from "./errors.ts";
import type { Place } from "./place.ts";

/** What Slack shows beside a thread: working (with a Stop of its own), waiting for a person, or nothing. */
export type SessionStatus = "processing" | "suspended" | "active";

/** Refusals that concern one thread only. */
const LOCAL: ReadonlySet<string> = new Set([
  "channel_not_found",
  "channel_type_not_supported",
  "not_in_channel",
  "is_archived",
  "message_not_found",
  "thread_not_found",
]);

/**
 * Sets a thread's status, in order, without waiting for it: nothing depends on it. In a workspace that does not have statuses it
 * is tried once.
 */
export function createStatus(api: Api, log: Logger): (place: Place, status: SessionStatus) => void {
  const inTurn = createTurns<string>();
  let isOff = false;

  async function set({ channel, root }: Place, status: SessionStatus): Promise<void> {
    if (isOff) return;
    try {
      await api.ask("agents.sessions.setStatus", (client) =>
        client.agents.sessions.setStatus({ channel_id: channel, thread_ts: root, status }),
      );
    } catch (error) {
      log.debug({ err: error }, "a thread's status could not be set");
      isOff ||= isBotError(error, "PLATFORM_REFUSED") && !LOCAL.has(refusalCode(error) ?? "");
    }
  }

  return (place, status) => {
    if (isOff) return;
    void inTurn(`${place.channel} ${place.root}`, () => set(place, status));
  };
}
