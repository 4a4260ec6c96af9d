/**
 * Takes anything that Slack sends; resolves with the response, undefined for a plain acknowledgment.
 * @throws BotError when it could not be taken and Slack should send it again
 */
export type Take = (body: unknown) => Promise<unknown>;

export interface EventSource {
  /**
   * Resolves once events arrive. `onBack`: they do again, after a time in which some may have been lost.
   * @throws BotError what the platform and the port throw
   */
  start(take: Take, onBack?: () => void): Promise<void>;
  /** Takes nothing new, waits for what is being taken, up to 3 s, and ends the connections. */
  stop(): Promise<void>;
  /** It is started and, where it is a connection, connected. */
  isUp(): boolean;
  describe(): string;
  /** The app that the events are for, if Slack said so. */
  app(): string | undefined;
}

/** What is being taken when the source stops has this long; Slack would not wait longer for its acknowledgement. */
export const STOP_MS = 3_000;
