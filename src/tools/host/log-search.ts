import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { BotError } from "../../core/errors.ts";
import type { FoundLines } from "./log-lines.ts";

/** What to search, and for what: an RE2 pattern. */
export interface LogSearch {
  file: { fd: number; bytes: number };
  wanted: number;
  pattern: string;
  ignoreCase: boolean;
}

/** What the worker answers; a problem is one of the pattern. */
export type LogSearchAnswer = { found: FoundLines } | { problem: string };

/** When a pattern is so slow that a search does not notice that its 5 s are over. */
const GIVE_UP_MS = 10_000;

/**
 * Searches a log file in a thread of its own. The pattern is somebody else's, so it is RE2's, never a JavaScript
 * RegExp, which can take for ever; but RE2 too may need seconds for 64 KiB, and here they are nobody's but the
 * search's.
 * @throws BotError INPUT_INVALID for a pattern that RE2 does not know; TIMEOUT
 */
export async function searchLog(search: LogSearch, signal: AbortSignal): Promise<FoundLines> {
  const worker = new Worker(new URL("./log-search-worker.ts", import.meta.url), {
    workerData: search,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  });
  const givenUp = AbortSignal.timeout(GIVE_UP_MS);
  try {
    const ended = AbortSignal.any([signal, givenUp]);
    const [answer]: LogSearchAnswer[] = await once(worker, "message", { signal: ended });
    if (answer !== undefined && "found" in answer) return answer.found;
    const text = `grep is no RE2 expression (${answer?.problem}); write \\ before a character that means itself.`;
    throw new BotError("INPUT_INVALID", text);
  } catch (error) {
    if (!givenUp.aborted || signal.aborted) throw error;
    throw new BotError("TIMEOUT", "The pattern is too slow; use a simpler one.", { cause: error });
  } finally {
    await worker.terminate();
  }
}
