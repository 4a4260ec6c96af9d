import { Worker } from "node:worker_threads";
import { BotError, messageOf } from "../core/errors.ts";
import type { AnyCatalog, Catalog } from "./catalog.ts";

export interface Question {
  readonly id: number;
  readonly verb: keyof Catalog;
  readonly args: readonly unknown[];
}

export type Answer =
  | { readonly id: number; readonly reply: unknown }
  | { readonly id: number; readonly problem: string };

interface Waiting {
  resolve(reply: unknown): void;
  reject(error: Error): void;
}

/**
 * A catalog in a thread of its own, since a question about 100 000 incidents may take longer than an event loop should. The
 * thread begins with the first question and ends when `stopped`; one that died is followed by an empty one.
 * @throws each verb BotError STORE_UNAVAILABLE where the thread cannot answer, for example because the disk is full
 */
export function startCatalog(stopped: AbortSignal): AnyCatalog {
  let thread: Thread | undefined;

  const ask =
    <V extends keyof Catalog>(verb: V) =>
    async (...args: Parameters<Catalog[V]>): Promise<ReturnType<Catalog[V]>> => {
      if (stopped.aborted) throw unavailable("it was stopped");
      thread ??= startThread(() => {
        thread = undefined;
      });
      return thread.ask(verb, args);
    };

  stopped.addEventListener("abort", () => void thread?.end());
  return {
    mark: ask("mark"),
    stale: ask("stale"),
    put: ask("put"),
    clear: ask("clear"),
    list: ask("list"),
    count: ask("count"),
    search: ask("search"),
    stats: ask("stats"),
    near: ask("near"),
    pastMark: ask("pastMark"),
    pastStale: ask("pastStale"),
    putPast: ask("putPast"),
    findPast: ask("findPast"),
  };
}

type Thread = ReturnType<typeof startThread>;

function startThread(onEnd: () => void) {
  const worker = new Worker(new URL("catalog-worker.ts", import.meta.url), {
    name: "incidents",
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 },
  });
  const waiting = new Map<number, Waiting>();
  let asked = 0;
  let why = "it was stopped";

  /** Whoever waits keeps the process; a thread with nothing to do does not. */
  function keepWhileNeeded(): void {
    if (waiting.size > 0) worker.ref();
    else worker.unref();
  }

  worker.on("message", (answer: Answer) => {
    const one = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ("problem" in answer) one?.reject(unavailable(answer.problem));
    else one?.resolve(answer.reply);
    keepWhileNeeded();
  });
  worker.on("error", (error) => {
    why = messageOf(error);
  });
  worker.on("exit", () => {
    onEnd();
    for (const { reject } of waiting.values()) reject(unavailable(why));
    waiting.clear();
  });
  keepWhileNeeded();

  return {
    ask<T>(verb: keyof Catalog, args: readonly unknown[]): Promise<T> {
      asked += 1;
      const one = Promise.withResolvers<T>();
      waiting.set(asked, one);
      keepWhileNeeded();
      const question: Question = { id: asked, verb, args };
      worker.postMessage(question);
      return one.promise;
    },
    end: () => worker.terminate(),
  };
}

function unavailable(why: string): BotError {
  return new BotError("STORE_UNAVAILABLE", `The index of incidents does not answer: ${why}.`);
}
