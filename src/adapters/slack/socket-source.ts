import { setTimeout as sleep } from "node:timers/promises";
import { SocketModeReceiver } from "@slack/bolt";
import type { Logger } from "pino";
import { createBackoff } from "../../core/backoff.ts";
import { isBotError } from "../../core/errors.ts";
import { askedWaitMs } from "../../core/retry-wait.ts";
import { socketDispatcher } from "../shared/sockets.ts";
import { answerWithin, clientOptions } from "./api.ts";
import { platformError } from "./errors.ts";
import { type EventSource, STOP_MS } from "./receiver.ts";
import { createSdkLogger } from "./sdk-log.ts";
import { createFrames } from "./socket-frames.ts";

export interface SocketSourceOptions {
  appToken: string;
  apiUrl: string | undefined;
  awayMs?: number | undefined;
  log: Logger;
}

/** From the request for an address to Slack's hello. */
const CONNECT_MS = 20_000;
/** The wait after the first failed attempt; it doubles each time, give or take a third. */
const FIRST_BACKOFF_MS = 375;
const MAX_BACKOFF_MS = 30_000;
/** A connection that ended sooner counts as a failed attempt; otherwise the source would ask Slack without end. */
const LIVED_MS = 5_000;
/** Slack sends what a connection missed again for a while; after longer something may be lost. */
const AWAY_MS = 30_000;
/** Slack's end of the closing handshake; afterwards the socket is cut. */
const CLOSE_MS = 500;

/**
 * Events by Socket Mode. The client is bolt's; what is ours is when an envelope is acknowledged (after it was taken, and not
 * when that failed, so that Slack sends it again) and how it reconnects: the client's own way ends the process when Slack
 * cannot be reached, and waits 5 s when Slack merely asks for a new connection.
 */
export function createSocketSource({
  appToken,
  apiUrl,
  awayMs = AWAY_MS,
  log,
}: SocketSourceOptions): EventSource {
  const receiver = new SocketModeReceiver({
    appToken,
    dispatcher: socketDispatcher(),
    autoReconnectEnabled: false,
    logger: createSdkLogger(log),
    installerOptions: { clientOptions: clientOptions(apiUrl, log) },
  });
  const { client } = receiver;
  const frames = createFrames(receiver, log);
  const stopping = new AbortController();
  let isUp = false;
  let upAt = 0;
  let back = () => {};
  /** Between attempts that failed, or connections that did not last. */
  const waits = createBackoff(FIRST_BACKOFF_MS, MAX_BACKOFF_MS, 1 / 3);
  let reconnecting: Promise<void> | undefined;

  async function connect(): Promise<void> {
    try {
      await answerWithin(CONNECT_MS, client.start());
    } catch (error) {
      // Otherwise a late hello would leave a connection that nobody ends.
      client.websocket?.disconnect();
      throw platformError(
        error ?? new Error("the connection was closed"),
        "apps.connections.open",
        "SLACK_APP_TOKEN",
      );
    }
    if (stopping.signal.aborted) return client.websocket?.disconnect();
    isUp = true;
    upAt = performance.now();
  }

  async function reconnect(): Promise<void> {
    const downAt = performance.now();
    const hasLived = performance.now() - upAt >= LIVED_MS;
    if (hasLived) waits.reset();
    let delayMs = hasLived ? 0 : waits.next();
    while (!stopping.signal.aborted) {
      try {
        await sleep(delayMs, undefined, { signal: stopping.signal });
        await connect();
        if (performance.now() - downAt >= awayMs) back();
        return;
      } catch (error) {
        if (stopping.signal.aborted) return;
        const askedMs = askedWaitMs(error, "PLATFORM_RATE_LIMITED") ?? 0;
        delayMs = Math.max(askedMs, waits.next());
        const level = isBotError(error, "PLATFORM_REFUSED") ? "error" : "warn";
        log[level]({ err: error }, "no connection to Slack; it is tried again");
      }
    }
  }

  client.on("disconnected", () => {
    if (!isUp) return;
    isUp = false;
    reconnecting = reconnect();
  });

  async function stop(): Promise<void> {
    stopping.abort();
    await answerWithin(STOP_MS, Promise.all([frames.end(), reconnecting])).catch(() => undefined);
    if (client.websocket === undefined) return;
    isUp = false;
    await answerWithin(CLOSE_MS, client.disconnect()).catch(() => client.websocket?.disconnect());
  }

  return {
    async start(take, onBack = () => {}) {
      back = onBack;
      frames.use(take);
      await connect();
    },
    stop,
    isUp: () => isUp,
    describe: () => "Slack sends events by Socket Mode.",
    app: frames.app,
  };
}
