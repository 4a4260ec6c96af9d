import type { Worker } from "node:worker_threads";
import { messageOf } from "./errors.ts";

interface Waiting {
  /** The thread sees to it that it is the reply to the question. */
  resolve(reply: unknown): void;
  reject(error: Error): void;
}

/**
 * What is asked of a thread, by number, until it is answered. Whoever waits keeps the process alive; a thread with nothing to do
 * does not. `ended` is told once why the thread ended, and says what those are told who still wait.
 */
export function createQuestions(worker: Worker, ended: (why: string) => Error) {
  const waiting = new Map<number, Waiting>();
  let asked = 0;
  let why = "it was stopped";
  let isKept = false;

  function keepWhileNeeded(): void {
    if (waiting.size > 0 || isKept) worker.ref();
    else worker.unref();
  }

  function take(id: number): Waiting | undefined {
    const one = waiting.get(id);
    waiting.delete(id);
    keepWhileNeeded();
    return one;
  }

  /** Such as what cannot be copied to another thread. */
  function cannotSend(id: number, error: unknown): void {
    take(id)?.reject(new TypeError(messageOf(error), { cause: error }));
  }

  worker.on("error", (error) => {
    why = messageOf(error);
  });
  worker.on("exit", () => {
    const error = ended(why);
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  });
  keepWhileNeeded();

  return {
    /** `send` gives the thread the question with its number, now or later. */
    ask<T>(send: (id: number) => void): Promise<T> {
      asked += 1;
      const one = Promise.withResolvers<T>();
      waiting.set(asked, one);
      keepWhileNeeded();
      try {
        send(asked);
      } catch (error) {
        cannotSend(asked, error);
      }
      return one.promise;
    },
    answer: (id: number, reply: unknown): void => take(id)?.resolve(reply),
    refuse: (id: number, error: Error): void => take(id)?.reject(error),
    cannotSend,
    isAnyOpen: (): boolean => waiting.size > 0,
    /** From now on the process lives as long as the thread. */
    keep(): void {
      isKept = true;
      keepWhileNeeded();
    },
  };
}
