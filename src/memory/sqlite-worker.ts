import { parentPort } from "node:worker_threads";
import { messageOf } from "../core/errors.ts";
import { openSqliteMemory } from "./sqlite.ts";
import type { Answer, Question } from "./sqlite-thread.ts";

/** The program of the index's thread. */

const index = openSqliteMemory();

function answer({ id, verb, args }: Question): Answer {
  try {
    // `startSqliteMemory` sees to it that the arguments are the verb's.
    return { id, reply: Reflect.apply(index[verb], undefined, args) };
  } catch (error) {
    return { id, problem: messageOf(error) };
  }
}

parentPort?.on("message", (question: Question) => parentPort?.postMessage(answer(question)));
