import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../core/errors.ts";
import { keepCompiled } from "../core/kept-code.ts";
import { openSqliteMemory, type SqliteMemoryOptions } from "./sqlite.ts";
import type { Answer, Question } from "./sqlite-thread.ts";

/** The program of the index's thread. */

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `startSqliteMemory` gives it
const index = openSqliteMemory(workerData as SqliteMemoryOptions);

function answer({ id, verb, args }: Question): Answer {
  try {
    // `startSqliteMemory` sees to it that the arguments are the verb's.
    return { id, reply: Reflect.apply(index[verb], undefined, args) };
  } catch (error) {
    return { id, problem: messageOf(error) };
  }
}

keepCompiled();
parentPort?.on("message", (question: Question) => parentPort?.postMessage(answer(question)));
