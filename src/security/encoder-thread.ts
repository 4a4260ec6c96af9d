import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { createBareThread } from "../core/bare-thread.ts";
import { createTurns } from "../core/turns.ts";
import type { EncoderCall } from "./encoder-methods.ts";
import type { HeldSecret } from "./redaction-encodings.ts";

/** The slowest text of a result's size takes some seconds; the next ones wait for it. */
const MAX_MS = 30_000;

/**
 * Encodes long texts in a thread of its own, one at a time, so that one that takes the rules long does not hold the event loop.
 * It is started by the first text and ends with the process, which it does not keep alive. A text whose thread dies (it has
 * no memory left) or takes longer than `maxMs` is not shown: the caller gets the error, and the next text a new thread.
 */
export function createAside(
  held: () => readonly HeldSecret[],
  maxMs = MAX_MS,
): (asked: EncoderCall) => Promise<string> {
  let thread: Worker | undefined;
  let known: readonly HeldSecret[] = [];
  const inTurn = createTurns<"thread">();

  async function ask(asked: EncoderCall): Promise<string> {
    if (thread !== undefined && known !== held()) {
      void thread.terminate();
      thread = undefined;
    }
    known = held();
    thread ??= createBareThread(new URL("./encoder-worker.ts", import.meta.url), {
      workerData: known,
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    });
    const answering = thread;
    answering.ref();
    try {
      answering.postMessage(asked);
      const [answer]: string[] = await once(answering, "message", {
        signal: AbortSignal.timeout(maxMs),
      });
      if (answer === undefined) throw new Error("The thread that takes secrets out said nothing.");
      return answer;
    } catch (error) {
      thread = undefined;
      void answering.terminate();
      throw error;
    } finally {
      answering.unref();
    }
  }

  return (asked) => inTurn("thread", () => ask(asked));
}
