import { Worker } from "node:worker_threads";
import { BotError, messageOf } from "../../core/errors.ts";
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

interface Waiting {
  /** The thread sees to it that it is the verb's reply. */
  resolve(reply: unknown): void;
  reject(error: Error): void;
}

function startThread(workerData: ThreadData, stalls: Stalls, onEnd: (why: string) => void) {
  const { path } = workerData;
  const worker = new Worker(new URL("thread.ts", import.meta.url), { workerData, name: "store" });
  const exit = Promise.withResolvers<void>();
  const waiting = new Map<number, Waiting>();
  let unsent: Request[] = [];
  let asked = 0;
  let why = "it was stopped";
  let isClosing = false;
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
      waiting.get(request.id)?.reject(new TypeError(messageOf(error), { cause: error }));
      waiting.delete(request.id);
      stalls.answered(waiting.size > 0);
      keepWhileNeeded();
    }
  }

  /** Whoever waits keeps the process; a thread with nothing to do does not. */
  function keepWhileNeeded(): void {
    if (waiting.size > 0 || isClosing) worker.ref();
    else worker.unref();
  }

  worker.on("message", ({ isLocked, answers }: Answers) => {
    for (const said of answers) {
      const one = waiting.get(said.id);
      waiting.delete(said.id);
      if ("refusal" in said) one?.reject(errorOf(said.refusal));
      else one?.resolve(said.reply);
    }
    hasAnswered = true;
    if (isLocked) stalls.locked(waiting.size > 0);
    else stalls.answered(waiting.size > 0);
    keepWhileNeeded();
  });
  worker.on("error", (error) => {
    why = messageOf(error);
  });
  worker.on("exit", () => {
    onEnd(why);
    for (const { reject } of waiting.values())
      reject(new BotError("STORE_UNAVAILABLE", ended(path, why)));
    waiting.clear();
    stalls.answered(false);
    exit.resolve();
  });
  keepWhileNeeded();

  return {
    ask<T>(what: Omit<Request, "id">): Promise<T> {
      asked += 1;
      const one = Promise.withResolvers<T>();
      waiting.set(asked, one);
      // What this turn of the event loop asks for goes there together: to wake the thread costs more than most verbs.
      if (unsent.push({ id: asked, ...what }) === 1) setImmediate(sendAll);
      // A thread that starts loads its code, which is no fault of the disk's.
      if (hasAnswered) stalls.asked();
      keepWhileNeeded();
      return one.promise;
    },
    close(): Promise<void> {
      isClosing = true;
      keepWhileNeeded();
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
