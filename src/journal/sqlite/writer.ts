import { createBareThread } from "../../core/bare-thread.ts";
import { createQuestions } from "../../core/asked-thread.ts";
import { BotError } from "../../core/errors.ts";
import type { Answers, Asked, Refusal, Request, ThreadData, Verbs } from "./messages.ts";
import type { Stalls } from "./stalls.ts";

export interface Writer {
  /**
   * Committed when it returns.
   * @throws what the verb throws; BotError STORE_UNAVAILABLE when the thread ended meanwhile, or was closed
   */
  ask<V extends keyof Verbs>(verb: V, ...args: Verbs[V]["args"]): Promise<Verbs[V]["reply"]>;
  /** Once all that was asked is answered. */
  close(): Promise<void>;
}

interface WriterOptions {
  /** A file that is open, so that it is there and of this version. */
  readonly path: string;
  /** Told when the thread ended by itself: the next that is asked starts another one. */
  readonly warn: (text: string) => void;
  readonly stalls: Stalls;
  /** The store's clock in tests. */
  readonly now: (() => number) | undefined;
}

/** Starts the thread that writes the file, and waits for nothing: what is asked meanwhile is done when it is there. */
export function createWriter({ path, warn, stalls, now }: WriterOptions): Writer {
  let thread: Thread | undefined;
  let isOpen = true;

  function start(): Thread {
    const started = startThread({ path, time: now?.() }, stalls, (why) => {
      if (thread === started) thread = undefined;
      if (isOpen) warn(ended(path, why));
    });
    return started;
  }

  thread = start();
  return {
    async ask(verb, ...args) {
      if (!isOpen) throw new BotError("STORE_UNAVAILABLE", `${path} was closed.`);
      thread ??= start();
      return thread.ask({ verb, args, time: now?.() });
    },
    async close() {
      isOpen = false;
      await thread?.close();
    },
  };
}

type Thread = ReturnType<typeof startThread>;

function startThread(workerData: ThreadData, stalls: Stalls, onEnd: (why: string) => void) {
  const { path } = workerData;
  const url = new URL("thread.ts", import.meta.url);
  const worker = createBareThread(url, { workerData, name: "store" });
  const exit = Promise.withResolvers<void>();
  const questions = createQuestions(worker, (why) => {
    onEnd(why);
    stalls.answered(false);
    exit.resolve();
    return new BotError("STORE_UNAVAILABLE", ended(path, why));
  });
  let unsent: Request[] = [];
  let hasAnswered = false;

  const send = (what: Asked) => worker.postMessage(what);

  function sendAll(): void {
    const requests = unsent;
    unsent = [];
    try {
      if (requests.length > 0) send(requests);
    } catch {
      // One of them cannot be sent at all, and the others did not go either.
      requests.forEach(sendAlone);
    }
  }

  function sendAlone(request: Request): void {
    try {
      send([request]);
    } catch (error) {
      questions.cannotSend(request.id, error);
      stalls.answered(questions.isAnyOpen());
    }
  }

  worker.on("message", ({ isLocked, answers }: Answers) => {
    for (const said of answers) {
      if ("refusal" in said) questions.refuse(said.id, errorOf(said.refusal));
      else questions.answer(said.id, said.reply);
    }
    hasAnswered = true;
    if (isLocked) stalls.locked(questions.isAnyOpen());
    else stalls.answered(questions.isAnyOpen());
  });

  return {
    ask<T>(what: Omit<Request, "id">): Promise<T> {
      // A thread that starts loads its code, which is no fault of the disk's.
      if (hasAnswered) stalls.asked();
      return questions.ask((id) => {
        // What this turn of the event loop asks for goes there together: to wake the thread costs more than most verbs.
        if (unsent.push({ id, ...what }) === 1) setImmediate(sendAll);
      });
    },
    close(): Promise<void> {
      questions.keep();
      sendAll();
      send("close");
      return exit.promise;
    },
  };
}

function errorOf({ code, message }: Refusal): Error {
  return code === undefined ? new Error(message) : new BotError(code, message);
}

function ended(path: string, why: string): string {
  return `The thread that writes ${path} ended (${why}). Another one starts with the next write; what waited may have to be repeated.`;
}
