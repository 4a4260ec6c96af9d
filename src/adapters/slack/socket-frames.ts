import type { SocketModeReceiver } from "@slack/bolt";
import type { Logger } from "pino";
import { isRecord } from "../../core/json.ts";
import { createQuietLog } from "../shared/quiet-log.ts";
import type { Take } from "./receiver.ts";

/**
 * Frames that are read in one turn of the event loop, about 10 ms. Of a thousand that come at once the first are kept by the store and
 * acknowledged while the others wait.
 */
const FRAMES_PER_TURN = 64;

/** Frames about the connection itself, which the client answers. */
const CLIENTS: ReadonlySet<unknown> = new Set(["hello", "disconnect"]);

/**
 * Reads frames in place of the client, which ends the process on a frame that is no object and calls listeners by any name that
 * an event gives itself.
 */
export function createFrames({ client }: Pick<SocketModeReceiver, "client">, log: Logger) {
  const quietly = createQuietLog(log);
  const taken = new Set<Promise<void>>();
  let take: Take | undefined;
  let app: string | undefined;
  let isEnded = false;
  const [readOn] = client.listeners("ws_message");
  client.removeAllListeners("ws_message");

  /** Acknowledges an envelope, with its response, once it was taken; not when that failed. */
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
    corkNow();
    client.websocket.send(text, (error) => (error === undefined ? resolve() : reject(error)));
    await promise;
  }

  /** What is acknowledged together goes out together: each by itself is a call into the kernel. */
  function corkNow(): void {
    // The client knows its socket, and gives it to nobody; without it each goes by itself.
    const socket = client.websocket?.["defaultSocket"];
    if (!socket || socket.writableCorked > 0) return;
    socket.cork();
    process.nextTick(() => socket.uncork());
  }

  function read(data: unknown, isBinary: unknown): void {
    const frame = readFrame(data);
    if (frame === undefined) return quietly("dropped a frame that is not an object", "socket");
    const { type, envelope_id, payload } = frame;
    if (CLIENTS.has(type)) {
      app = frame.app ?? app;
      readOn?.(data, isBinary);
      return;
    }
    if (envelope_id === undefined) return quietly("a frame without an id was dropped", `${type}`);
    if (isEnded) return;
    const done = receive(envelope_id, payload).finally(() => taken.delete(done));
    taken.add(done);
  }

  const waiting: [data: unknown, isBinary: unknown][] = [];
  let inTurn = 0;

  function readWaiting(): void {
    const frames = waiting.splice(0, FRAMES_PER_TURN);
    inTurn = frames.length;
    if (inTurn > 0) setImmediate(readWaiting);
    for (const [data, isBinary] of frames) read(data, isBinary);
  }

  client.on("ws_message", (data: unknown, isBinary: unknown) => {
    if (inTurn === 0) setImmediate(readWaiting);
    inTurn += 1;
    if (inTurn > FRAMES_PER_TURN) waiting.push([data, isBinary]);
    else read(data, isBinary);
  });

  return {
    /** From now on people's events go to `take`. */
    use(given: Take): void {
      take = given;
    },
    /** Takes nothing new, which Slack will send again; resolves when the events in progress are taken. */
    end(): Promise<unknown> {
      isEnded = true;
      waiting.length = 0;
      return Promise.all(taken);
    },
    /** The app that Slack's hello named. */
    app: (): string | undefined => app,
  };
}

/** The fields of a Socket Mode frame that are used; the client reads the rest. By hand: it comes before each acknowledgement. */
function readFrame(data: unknown) {
  const frame = tryParse(String(data));
  if (!isRecord(frame)) return undefined;
  const { type, envelope_id: id, payload, connection_info: info } = frame;
  const app = isRecord(info) ? info["app_id"] : undefined;
  return {
    type: typeof type === "string" ? type : undefined,
    envelope_id: typeof id === "string" ? id : undefined,
    payload,
    app: typeof app === "string" ? app : undefined,
  };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
