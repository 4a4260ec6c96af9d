import type { SocketModeReceiver } from "@slack/bolt";
import type { Logger } from "pino";
import * as z from "zod";
import { createQuietLog } from "../shared/quiet-log.ts";
import type { Take } from "./receiver.ts";

/** What is taken of a frame of Socket Mode; what else it holds is the client's. */
const frameSchema = z.object({
  type: z.string().optional().catch(undefined),
  envelope_id: z.string().optional().catch(undefined),
  payload: z.unknown().optional(),
  connection_info: z
    .object({ app_id: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

/** The connection's own, which the client answers. */
const CLIENTS: ReadonlySet<unknown> = new Set(["hello", "disconnect"]);

/**
 * Reads frames in the client's place: its own reading ends the process on one that is no object, and calls listeners by
 * whatever name an event gives itself.
 */
export function createFrames({ client }: Pick<SocketModeReceiver, "client">, log: Logger) {
  const quietly = createQuietLog(log);
  const taken = new Set<Promise<void>>();
  let take: Take | undefined;
  let app: string | undefined;
  let isEnded = false;
  const [readOn] = client.listeners("ws_message");
  client.removeAllListeners("ws_message");

  /** Has it taken, and then acknowledges it with what it was answered with; not when that failed. */
  async function receive(envelope_id: string, body: unknown): Promise<void> {
    try {
      const answer = await take?.(body);
      await send(JSON.stringify({ envelope_id, payload: answer ?? {} }));
    } catch (error) {
      log.debug({ err: error }, "an envelope was not acknowledged");
    }
  }

  async function send(text: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (client.websocket?.isActive() !== true) throw new Error("the connection is closed");
    client.websocket.send(text, (error) => (error === undefined ? resolve() : reject(error)));
    await promise;
  }

  client.on("ws_message", (data: unknown, isBinary: unknown) => {
    const frame = readFrame(data);
    if (frame === undefined) return quietly("dropped a frame that is not an object", "socket");
    const { type, envelope_id, payload, connection_info } = frame;
    if (CLIENTS.has(type)) {
      app = connection_info?.app_id ?? app;
      readOn?.(data, isBinary);
      return;
    }
    if (envelope_id === undefined) return quietly("a frame without an id was dropped", `${type}`);
    if (isEnded) return;
    const done = receive(envelope_id, payload).finally(() => taken.delete(done));
    taken.add(done);
  });

  return {
    /** From now on what people sent goes there. */
    use(given: Take): void {
      take = given;
    },
    /** What comes later is left to Slack to send again; resolves when what is being taken is. */
    end(): Promise<unknown> {
      isEnded = true;
      return Promise.all(taken);
    },
    /** The app that Slack's hello named. */
    app: (): string | undefined => app,
  };
}

function readFrame(data: unknown) {
  try {
    const frame: unknown = JSON.parse(String(data));
    return frameSchema.safeParse(frame).data;
  } catch {
    return undefined;
  }
}
