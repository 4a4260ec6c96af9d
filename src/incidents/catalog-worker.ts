import { parentPort } from "node:worker_threads";
import { messageOf } from "../core/errors.ts";
import { keepCompiled } from "../core/kept-code.ts";
import { openCatalog } from "./catalog.ts";
import type { Answer, Question } from "./catalog-thread.ts";

/** The program of the catalog's thread. */

const catalog = openCatalog();

function answer({ id, verb, args }: Question): Answer {
  try {
    // `startCatalog` sees to it that the arguments are the verb's.
    return { id, reply: Reflect.apply(catalog[verb], undefined, args) };
  } catch (error) {
    return { id, problem: messageOf(error) };
  }
}

keepCompiled();
parentPort?.on("message", (question: Question) => parentPort?.postMessage(answer(question)));
