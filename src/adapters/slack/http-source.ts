import type { Server } from "node:http";
import { HTTPReceiver, type Receiver } from "@slack/bolt";
import type { Logger } from "pino";
import { BotError, messageOf } from "../../core/errors.ts";
import { type EventSource, STOP_MS } from "./receiver.ts";
import { createSdkLogger } from "./sdk-log.ts";

export interface HttpSourceOptions {
  signingSecret: string;
  /** 0: any that is free. */
  port: number;
  log: Logger;
}

const PATH = "/slack/events";
/** Anybody may send requests here: not each that is refused is worth a line. */
const QUIET_MS = 60_000;

/**
 * Events by HTTP. A request is answered when its event was taken; 500 makes Slack send it again. What is not signed by Slack
 * within the last five minutes is 401. `/healthz` is 200 while it listens.
 */
export function createHttpSource({ signingSecret, port, log }: HttpSourceOptions): EventSource {
  let server: Server | undefined;
  const inner = new HTTPReceiver({
    signingSecret,
    endpoints: [PATH],
    processBeforeResponse: true,
    logger: createRequestLogger(log),
    customRoutes: [
      { path: "/healthz", method: ["GET"], handler: (_request, response) => response.end("ok\n") },
    ],
  });

  const receiver: Receiver = {
    init: (app) => inner.init(app),
    async start() {
      try {
        server = await inner.start(port);
      } catch (error) {
        const text = `Port ${port} (PORT) cannot be listened on: ${messageOf(error)}.`;
        throw new BotError("PLATFORM_REFUSED", text, { cause: error });
      }
    },
    stop: () => stop(),
  };

  async function stop(): Promise<void> {
    const listening = server;
    server = undefined;
    if (listening === undefined) return;
    const limit = setTimeout(() => listening.closeAllConnections(), STOP_MS);
    try {
      await inner.stop();
    } finally {
      clearTimeout(limit);
    }
  }

  return {
    receiver,
    stop,
    describe() {
      const address = server?.address();
      const open = typeof address === "object" ? address?.port : undefined;
      return `Slack sends events by HTTP to port ${open ?? port}, path ${PATH}.`;
    },
  };
}

/** What bolt warns of is a request that it refused; with a wrong secret or clock those are Slack's own. */
function createRequestLogger(log: Logger) {
  let quietUntil = 0;
  return {
    ...createSdkLogger(log),
    warn(...parts: unknown[]) {
      if (performance.now() < quietUntil) return;
      quietUntil = performance.now() + QUIET_MS;
      const why = parts.map(String).join(" ").slice(0, 300);
      log.warn(
        `A request was refused: ${why}. If it was Slack's, compare SLACK_SIGNING_SECRET and this machine's clock.`,
      );
    },
  };
}
