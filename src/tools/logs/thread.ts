import { once } from "node:events";
import { createBareThread } from "../../core/bare-thread.ts";
import { BotError } from "../../core/errors.ts";
import type { Encoder } from "../../security/encoder.ts";
import type { HeldSecret } from "../../security/redaction-encodings.ts";
import type { System } from "./entries.ts";
import type { FileRead, FileWindow } from "./file-lines.ts";
import type { Outcome, PageRead, Wanted } from "./reading.ts";

/** What the thread is given. */
export interface Job {
  held: readonly HeldSecret[];
  wanted: Wanted;
}

export type Request =
  | { kind: "page"; system: System; text: string; begin: boolean }
  | { kind: "file"; service: string; window: FileWindow }
  | { kind: "result" };

/** A problem is one of the pattern. */
export type Answer =
  | { page: PageRead }
  | { file: FileRead }
  | { result: Outcome }
  | { problem: string };

/** For one request: a pattern can be so slow that nothing else would end it. */
const MAX_MS = 60_000;

/** Reads lines in a thread of its own, which has so much memory and no more, and ends with `close`. */
export function createThread(
  wanted: Wanted,
  { signal, encoder }: { signal: AbortSignal; encoder: Encoder },
) {
  const job: Job = { held: encoder.held, wanted };
  const worker = createBareThread(new URL("./worker.ts", import.meta.url), {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  });

  let failure: Error | undefined;
  // It may fail when nobody waits for it, too, which would end the process.
  worker.on("error", (error: Error) => {
    failure = error;
  });

  /** @throws BotError INPUT_INVALID for a pattern that RE2 does not know; TIMEOUT */
  async function ask(request: Request): Promise<Exclude<Answer, { problem: string }>> {
    if (failure !== undefined) throw failure;
    const late = AbortSignal.timeout(MAX_MS);
    worker.postMessage(request);
    try {
      const ended = AbortSignal.any([signal, late]);
      const [answer]: Answer[] = await once(worker, "message", { signal: ended });
      if (answer === undefined) throw new Error("The thread that reads lines said nothing.");
      if (!("problem" in answer)) return answer;
      const text = `pattern is no RE2 expression (${answer.problem}); write \\ before a character that means itself.`;
      throw new BotError("INPUT_INVALID", text);
    } catch (error) {
      if (!late.aborted || signal.aborted) throw error;
      throw new BotError("TIMEOUT", "The pattern is too slow; use a simpler one.", {
        cause: error,
      });
    }
  }

  return {
    async page(request: Omit<Extract<Request, { kind: "page" }>, "kind">): Promise<PageRead> {
      const answer = await ask({ kind: "page", ...request });
      return "page" in answer ? answer.page : unexpected();
    },
    async file(request: Omit<Extract<Request, { kind: "file" }>, "kind">): Promise<FileRead> {
      const answer = await ask({ kind: "file", ...request });
      return "file" in answer ? answer.file : unexpected();
    },
    async result(): Promise<Outcome> {
      const answer = await ask({ kind: "result" });
      return "result" in answer ? answer.result : unexpected();
    },
    close: async (): Promise<void> => {
      await worker.terminate();
    },
  };
}

function unexpected(): never {
  throw new Error("The thread that reads lines answered something else.");
}
