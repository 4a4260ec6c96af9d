import { parentPort, workerData } from "node:worker_threads";
import { RE2JS, RE2JSException } from "re2js";
import { keepCompiled } from "../core/kept-code.ts";
import { createEncoder, type Encoder } from "../security/encoder.ts";
import type { HeldSecret } from "../security/redaction-encodings.ts";
import type { LineSearch, LineSearchAnswer } from "./line-search.ts";
import { findLines, matchLines } from "./lines.ts";

/** The program of the thread that a search runs in. */

/** This is a thread of its own already. */
function encoderHere(held: readonly HeldSecret[]): Encoder {
  const encoder = createEncoder(held);
  const encodeWithin: Encoder["aside"]["encodeWithin"] = async (...args) =>
    encoder.encodeWithin(...args);
  return { ...encoder, aside: { ...encoder.aside, encodeWithin } };
}

async function search(asked: LineSearch): Promise<LineSearchAnswer> {
  const { pattern, ignoreCase, wanted } = asked;
  try {
    const regex = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    const matches = (line: string) => regex.test(line);
    const found =
      "file" in asked
        ? await findLines(asked.file, wanted, { encoder: encoderHere(asked.held), matches })
        : matchLines(asked.lines, wanted, matches);
    return { found };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return { problem: error.message };
  }
}
keepCompiled();
parentPort?.postMessage({ begins: true } satisfies LineSearchAnswer);
parentPort?.postMessage(await search(workerData));
