import { on } from "node:events";
import * as z from "zod";
import { createBareThread } from "../core/bare-thread.ts";
import type { Encoder } from "../security/encoder.ts";
import { BotError } from "../core/errors.ts";
import type { HeldSecret } from "../security/redaction-encodings.ts";
import type { FoundLines, MatchingLines } from "./lines.ts";

/** The arguments of a tool that reads lines: how many, and which. */
export const lineFields = (newest: string, numbered: string) => ({
  lines: z.int().min(1).max(2000).default(100).describe(`How many lines${newest}`),
  grep: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe(`Only lines that match this RE2 expression${numbered}`),
  ignoreCase: z.boolean().default(false).describe("Whether grep ignores case"),
});

/** What to search for: an RE2 pattern, and how many lines of it. */
export interface Pattern {
  pattern: string;
  ignoreCase: boolean;
  wanted: number;
}

/** What the thread is given. */
export type LineSearch = Pattern &
  (
    | { file: { fd: number; bytes: number }; held: readonly HeldSecret[] }
    | { lines: readonly string[] }
  );

/** What the thread says: first that it is loaded and begins, then its answer. A problem is one of the pattern. */
export type LineSearchAnswer<T = FoundLines | MatchingLines> =
  | { begins: true }
  | { found: T }
  | { problem: string };

/** When a pattern is so slow that a search does not notice that its 10 s are over. */
const GIVE_UP_MS = 15_000;

/**
 * The newest lines of an open file that match once they are encoded.
 * @throws as `inThread`
 */
export function searchFile(
  file: { fd: number; bytes: number },
  pattern: Pattern,
  { signal, encoder }: { signal: AbortSignal; encoder: Encoder },
): Promise<FoundLines> {
  return inThread({ ...pattern, file, held: encoder.held }, signal);
}

/**
 * The first of these lines that match. They have been encoded as one text.
 * @throws as `inThread`
 */
export function searchLines(
  lines: readonly string[],
  pattern: Pattern,
  signal: AbortSignal,
): Promise<MatchingLines> {
  return inThread({ ...pattern, lines }, signal);
}

/**
 * Searches in a thread of its own. The pattern is somebody else's, so it is RE2's, never a JavaScript RegExp, which can
 * take for ever; but RE2 too may need seconds for 64 KiB, and here they are nobody's but the search's.
 * @throws BotError INPUT_INVALID for a pattern that RE2 does not know; TIMEOUT
 */
async function inThread<T>(search: LineSearch, signal: AbortSignal): Promise<T> {
  const worker = createBareThread(new URL("./line-search-worker.ts", import.meta.url), {
    workerData: search,
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  });
  const givenUp = new AbortController();
  const ended = AbortSignal.any([signal, givenUp.signal]);
  let timer: NodeJS.Timeout | undefined;
  try {
    const said: AsyncIterator<LineSearchAnswer<T>[], undefined> = on(worker, "message", {
      signal: ended,
    });
    // A busy machine may need long to load the thread: a simpler pattern would not help with that.
    await said.next();
    timer = setTimeout(() => givenUp.abort(), GIVE_UP_MS);
    const [answer] = (await said.next()).value ?? [];
    if (answer !== undefined && "found" in answer) return answer.found;
    const problem = answer !== undefined && "problem" in answer ? answer.problem : "no answer";
    const text = `grep is no RE2 expression (${problem}); write \\ before a character that means itself.`;
    throw new BotError("INPUT_INVALID", text);
  } catch (error) {
    if (!givenUp.signal.aborted || signal.aborted) throw error;
    throw new BotError("TIMEOUT", "The pattern is too slow; use a simpler one.", { cause: error });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
