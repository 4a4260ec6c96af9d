import { createBareThread } from "../core/bare-thread.ts";
import { createQuestions } from "../core/asked-thread.ts";
import { BotError } from "../core/errors.ts";
import type { AnyCatalog, Catalog } from "./catalog.ts";

export interface Question {
  readonly id: number;
  readonly verb: keyof Catalog;
  readonly args: readonly unknown[];
}

export type Answer =
  | { readonly id: number; readonly reply: unknown }
  | { readonly id: number; readonly problem: string };

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
    numbers: ask("numbers"),
    near: ask("near"),
    pastMark: ask("pastMark"),
    pastStale: ask("pastStale"),
    putPast: ask("putPast"),
    findPast: ask("findPast"),
  };
}

type Thread = ReturnType<typeof startThread>;

function startThread(onEnd: () => void) {
  const worker = createBareThread(new URL("catalog-worker.ts", import.meta.url), {
    name: "incidents",
    resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 },
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
    ask: <T>(verb: keyof Catalog, args: readonly unknown[]): Promise<T> =>
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
    `The index of incidents and threads does not answer: ${why}.`,
  );
}
