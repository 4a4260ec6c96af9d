import { deserializeMessage, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { BotError, messageOf } from "../../core/errors.ts";
import type { Companion } from "../process.ts";

/** Of one message: an image of 5 MiB in base64 fits. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** Messages that may come after each that we sent: a long call reports its progress, a flood goes on. */
const MAX_MESSAGES = 10_000;

/**
 * Messages with a program by its standard input and output, a line each. The SDK's own starts the program by other rules than ours
 * and reads without a limit on what it sends. `ended` is told why, once.
 */
export function createStdioTransport(
  program: Companion,
  ended: (why: BotError) => void,
): Transport {
  let pending: Buffer[] = [];
  let [bytes, messages] = [0, 0];
  let isOver = false;

  function end(why: string): void {
    if (isOver) return;
    isOver = true;
    pending = [];
    ended(new BotError("CONNECTION_FAILED", why));
    transport.onclose?.();
    void program.stop().catch(() => {});
  }

  function take(line: Buffer): void {
    messages += 1;
    if (messages > MAX_MESSAGES) return end(`it sent more than ${MAX_MESSAGES} messages unasked`);
    try {
      transport.onmessage?.(deserializeMessage(line.toString("utf8")));
    } catch {
      // Programs print other lines too, against the protocol; what is awaited comes in another one or not at all.
    }
  }

  function read(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      if (isOver) return;
      const line = Buffer.concat([...pending, chunk.subarray(from, at)]);
      [pending, bytes, from] = [[], 0, at + 1];
      take(line);
    }
    if (isOver) return;
    pending.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > MAX_MESSAGE_BYTES)
      end(`it sent more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB in one message`);
  }

  const transport: Transport = {
    async start() {
      program.output.on("data", read);
      void program.exited.then(({ exitCode, signal }) =>
        end(`it ended (${signal ?? `exit code ${exitCode}`})`),
      );
    },
    async send(message: JSONRPCMessage) {
      if (isOver) throw new BotError("CONNECTION_FAILED", "the program has ended");
      // Answers to what it asks are no reason for it to go on.
      if ("method" in message) messages = 0;
      await new Promise<void>((resolve, reject) => {
        program.input.write(serializeMessage(message), (error) => {
          if (error) reject(new BotError("ABORTED", messageOf(error), { cause: error }));
          else resolve();
        });
      });
    },
    close: async () => end("it was closed"),
  };
  return transport;
}
