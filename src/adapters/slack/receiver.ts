import type { Receiver } from "@slack/bolt";

/** How events come in. */
export interface EventSource {
  /** For bolt's `App`. Its `start` resolves once events arrive. @throws what the platform and the port throw */
  receiver: Receiver;
  /** Takes nothing new, waits for what is being taken, up to 3 s, and ends the connections. */
  stop(): Promise<void>;
  /** Where events come from, for people. */
  describe(): string;
}

/** What is being taken when the source stops has this long; Slack would not wait longer for its acknowledgement. */
export const STOP_MS = 3_000;
