import { read } from "node:fs";
import { promisify } from "node:util";
import { headOf } from "../core/display.ts";

const NEWLINE = 0x0a;
const CHUNK_BYTES = 64 * 1024;
/** A line of a file that goes on for longer is given in parts. */
const MAX_LINE_BYTES = 64 * 1024;
/** What an answer holds, and how much of a line. */
const MAX_TEXT_LENGTH = 256 * 1024;
const MAX_LINE_LENGTH = 2_000;
/** How far back and for how long lines are looked for: an ordinary pattern gets through 100 MiB in 1 s. */
const MAX_SEARCHED_BYTES = 256 * 1024 * 1024;
const MAX_SEARCH_MS = 5_000;

const readAt = promisify(read);

/** The newest lines of a file that were looked for. */
export interface FoundLines {
  /** Newest first, each at most 2 000 characters and a note of how many more it has. */
  lines: string[];
  /** How much of the file was looked at, from its end. */
  searchedBytes: number;
  /** True when all lines that were looked for are there. */
  isAll: boolean;
  /** True when a line was so long that it was taken in parts. */
  inParts: boolean;
  /** Why it was not looked further back although lines were wanting. */
  limit: string | undefined;
}

/** Finds the `wanted` newest lines that match, reading the open file backwards in pieces of 64 KiB. */
export async function findLines(
  file: { fd: number; bytes: number },
  wanted: number,
  options: { matches?: (line: string) => boolean; signal?: AbortSignal },
): Promise<FoundLines> {
  const { matches = () => true, signal } = options;
  const startedAt = performance.now();
  const found: FoundLines = {
    lines: [],
    searchedBytes: 0,
    isAll: true,
    inParts: false,
    limit: undefined,
  };
  let textLength = 0;
  for await (const batch of linesFromEnd(file.fd, file.bytes)) {
    signal?.throwIfAborted();
    found.inParts ||= batch.inParts;
    for (const bytes of batch.lines) {
      found.limit = reachedLimit(textLength, found.searchedBytes, performance.now() - startedAt);
      if (found.limit !== undefined) return { ...found, isAll: false };
      const line = bytes.toString().replace(/\r$/, "");
      found.searchedBytes += bytes.length + 1;
      if (!matches(line)) continue;
      if (found.lines.length === wanted) return { ...found, isAll: false };
      const shown = shorten(line);
      textLength += shown.length;
      found.lines.push(shown);
    }
  }
  return { ...found, searchedBytes: file.bytes };
}

/** The lines of a text that were looked for. */
export interface MatchingLines {
  /** Counted from 0, ascending. */
  indices: number[];
  /** How many lines were looked at, from the first. */
  searched: number;
}

/** Finds the first `wanted` lines that match, and gives up after 5 s. */
export function matchLines(
  lines: readonly string[],
  wanted: number,
  matches: (line: string) => boolean,
): MatchingLines {
  const startedAt = performance.now();
  const indices: number[] = [];
  for (const [i, line] of lines.entries()) {
    const isOver = indices.length === wanted || performance.now() - startedAt >= MAX_SEARCH_MS;
    if (isOver) return { indices, searched: i };
    if (matches(line)) indices.push(i);
  }
  return { indices, searched: lines.length };
}

interface LineBatch {
  /** Newest first. */
  lines: Buffer[];
  inParts: boolean;
}

async function* linesFromEnd(fd: number, bytes: number): AsyncGenerator<LineBatch> {
  let position = bytes;
  let carry = Buffer.alloc(0);
  while (position > 0) {
    const isLast = position === bytes;
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, position));
    position -= chunk.length;
    const { bytesRead } = await readAt(fd, chunk, 0, chunk.length, position);
    const block = Buffer.concat([chunk.subarray(0, bytesRead), carry]);
    const lines: Buffer[] = [];
    let end = isLast && block.at(-1) === NEWLINE ? block.length - 1 : block.length;
    while (end > 0) {
      const newline = block.lastIndexOf(NEWLINE, end - 1);
      if (newline < 0) break;
      lines.push(block.subarray(newline + 1, end));
      end = newline;
    }
    carry = block.subarray(0, end);
    const inParts = position > 0 && carry.length > MAX_LINE_BYTES;
    if (position === 0 || inParts) {
      lines.push(carry);
      carry = Buffer.alloc(0);
    }
    yield { lines, inParts };
  }
}

function reachedLimit(textLength: number, searchedBytes: number, ms: number): string | undefined {
  if (textLength >= MAX_TEXT_LENGTH) return "an answer holds 256 KiB";
  if (searchedBytes >= MAX_SEARCHED_BYTES) return "a search goes no further";
  return ms >= MAX_SEARCH_MS ? "a search lasts 5 s" : undefined;
}

function shorten(line: string): string {
  const head = headOf(line, MAX_LINE_LENGTH);
  const more = line.length - head.length;
  return more === 0 ? line : `${head} [… ${more} more characters]`;
}
