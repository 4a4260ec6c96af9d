import { createBareThread } from "../core/bare-thread.ts";
import { createQuestions } from "../core/asked-thread.ts";
import { BotError } from "../core/errors.ts";
import type { MemoryIndex } from "./index-port.ts";
import type { SqliteMemoryOptions } from "./sqlite.ts";

export interface Question {
  readonly id: number;
  readonly verb: keyof MemoryIndex;
  readonly args: readonly unknown[];
}

export type Answer =
  | { readonly id: number; readonly reply: unknown }
  | { readonly id: number; readonly problem: string };

/**
 * The index in a thread of its own: 100 000 items are more than an event loop should wait for. The thread begins with the first
 * question; one that died is followed by an empty one.
 * @throws each verb BotError STORE_UNAVAILABLE where the thread cannot answer
 */
export function startSqliteMemory(
  stopped: AbortSignal,
  options: SqliteMemoryOptions = {},
): MemoryIndex {
  let thread: ReturnType<typeof startThread> | undefined;

  const ask =
    <V extends keyof MemoryIndex>(verb: V) =>
    async (...args: Parameters<MemoryIndex[V]>): Promise<Awaited<ReturnType<MemoryIndex[V]>>> => {
      if (stopped.aborted) throw unavailable("it was stopped");
      thread ??= startThread(options, () => {
        thread = undefined;
      });
      return thread.ask<Awaited<ReturnType<MemoryIndex[V]>>>(verb, args);
    };

  const end = async () => void (await thread?.end());
  stopped.addEventListener("abort", () => void end());
  return {
    marks: ask("marks"),
    put: ask("put"),
    drop: ask("drop"),
    spaces: ask("spaces"),
    find: ask("find"),
    newest: ask("newest"),
    statistics: ask("statistics"),
    matching: ask("matching"),
    nearest: ask("nearest"),
    unembedded: ask("unembedded"),
    embed: ask("embed"),
    textVectors: ask("textVectors"),
    keepTextVectors: ask("keepTextVectors"),
    close: end,
  };
}

function startThread(workerData: SqliteMemoryOptions, onEnd: () => void) {
  const worker = createBareThread(new URL("sqlite-worker.ts", import.meta.url), {
    name: "memory",
    workerData,
    resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 },
  });
  const questions = createQuestions(worker, (why) => {
    onEnd();
    return unavailable(why);
  });
  worker.on("message", (answer: Answer) => {
    if ("problem" in answer) questions.refuse(answer.id, unavailable(answer.problem));
    else questions.answer(answer.id, answer.reply);
  });
  return {
    ask: <T>(verb: keyof MemoryIndex, args: readonly unknown[]): Promise<T> =>
      questions.ask((id) => {
        const question: Question = { id, verb, args };
        worker.postMessage(question);
      }),
    end: () => worker.terminate(),
  };
}

function unavailable(why: string): BotError {
  return new BotError(
    "STORE_UNAVAILABLE",
    `The index of what is remembered does not answer: ${why}.`,
  );
}
