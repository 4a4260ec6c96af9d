import { parentPort, workerData } from "node:worker_threads";
import { RE2JS, RE2JSException } from "re2js";
import { findLines } from "./log-lines.ts";
import type { LogSearch, LogSearchAnswer } from "./log-search.ts";

/** The program of the thread that `searchLog` starts. */

async function search({ file, wanted, pattern, ignoreCase }: LogSearch): Promise<LogSearchAnswer> {
  try {
    const regex = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    return { found: await findLines(file, wanted, { matches: (line) => regex.test(line) }) };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return { problem: error.message };
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
parentPort?.postMessage(await search(workerData));
