/**
 * Takes what Slack sent, whatever it is; resolves with what is answered, undefined for "taken".
 * @throws BotError when it could not be taken and is to be sent again
 */
export type Take = (body: unknown) => Promise<unknown>;

export interface EventSource {
  /** Resolves once events arrive. @throws BotError what the platform and the port throw */
  start(take: Take): Promise<void>;
  /** Takes nothing new, waits for what is being taken, up to 3 s, and ends the connections. */
  stop(): Promise<void>;
  describe(): string;
  /** The app that they are for, where that is said. */
  app(): string | undefined;
}

/** What is being taken when the source stops has this long; Slack would not wait longer for its acknowledgement. */
export const STOP_MS = 3_000;
