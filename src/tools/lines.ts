import { read } from "node:fs";
import { promisify } from "node:util";
import { cleanText } from "../security/sanitize.ts";
import { headOf } from "../core/text.ts";
import type { Encoder } from "../security/encoder.ts";

const NEWLINE = 0x0a;
const CHUNK_BYTES = 64 * 1024;
/** A line of a file that goes on for longer is given in parts. */
const MAX_LINE_BYTES = 64 * 1024;
/** What an answer holds, and how much of a line. */
const MAX_TEXT_LENGTH = 256 * 1024;
const MAX_LINE_LENGTH = 2_000;
/** How far back and for how long lines are looked for: encoding and an ordinary pattern get through 15 MiB in 1 s. */
const MAX_SEARCHED_BYTES = 256 * 1024 * 1024;
const MAX_SEARCH_MS = 10_000;

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

/**
 * Finds the `wanted` newest lines that match, reading the open file backwards in pieces of 64 KiB. The lines are encoded
 * before anything looks at them: no pattern can ask for what the encoder takes out, not even by how many lines match.
 */
export async function findLines(
  file: { fd: number; bytes: number },
  wanted: number,
  options: { encoder: Encoder; matches?: (line: string) => boolean; signal?: AbortSignal },
): Promise<FoundLines> {
  const { encoder, matches = () => true, signal } = options;
  const startedAt = performance.now();
  const found: FoundLines = {
    lines: [],
    searchedBytes: 0,
    isAll: true,
    inParts: false,
    limit: undefined,
  };
  let textLength = 0;
  for await (const batch of linesFromEnd(file, encoder)) {
    signal?.throwIfAborted();
    found.inParts ||= batch.inParts;
    for (const line of batch.lines) {
      found.limit = reachedLimit(textLength, found.searchedBytes, performance.now() - startedAt);
      if (found.limit !== undefined) return { ...found, isAll: false };
      found.searchedBytes = Math.min(batch.searchedBytes, found.searchedBytes + line.length + 1);
      if (!matches(line)) continue;
      if (found.lines.length === wanted) return { ...found, isAll: false };
      const shown = shorten(line);
      textLength += shown.length;
      found.lines.push(shown);
    }
    found.searchedBytes = batch.searchedBytes;
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

/** Finds the first `wanted` lines that match, and gives up after 10 s. */
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
  /** Newest first, encoded. */
  lines: string[];
  inParts: boolean;
  /** From the file's end to where the batch begins. */
  searchedBytes: number;
}

/**
 * The encoded lines of a file in batches. Each batch is encoded with the file's bytes on both sides of it in view: a
 * secret of several lines, or one that lies where a long line is parted, is found wherever the batches meet.
 */
async function* linesFromEnd(
  { fd, bytes }: { fd: number; bytes: number },
  encoder: Encoder,
): AsyncGenerator<LineBatch> {
  let end = bytes;
  let behind = Buffer.alloc(0);
  /** The end of a line whose beginning is not read yet. */
  let carry = Buffer.alloc(0);
  while (end > 0) {
    const unread = end - carry.length;
    const chunk = await readPart(fd, Math.max(0, unread - CHUNK_BYTES), unread);
    const block = Buffer.concat([chunk, carry]);
    const isFirst = unread <= CHUNK_BYTES;
    const newline = isFirst ? -1 : block.subarray(0, -1).indexOf(NEWLINE);
    const inParts = !isFirst && newline < 0;
    if (inParts && block.length <= MAX_LINE_BYTES) {
      carry = block;
      continue;
    }
    const start = inParts ? firstCharacter(block) : newline + 1;
    const region = block.subarray(start);
    const at = end - region.length;
    const before = await readPart(fd, Math.max(0, at - encoder.reach), at);
    yield {
      lines: linesOf(
        await encodedRegion(before, region, behind, encoder),
        region.at(-1) === NEWLINE,
      ),
      inParts,
      searchedBytes: bytes - at,
    };
    end = at;
    carry = block.subarray(0, start);
    behind = Buffer.concat([region.subarray(0, encoder.reach), behind]).subarray(0, encoder.reach);
  }
}

async function readPart(fd: number, from: number, to: number): Promise<Buffer<ArrayBuffer>> {
  const part = Buffer.alloc(to - from);
  const { bytesRead } = await readAt(fd, part, 0, part.length, from);
  return part.subarray(0, bytesRead);
}

/** The first byte of a block's first whole character. */
function firstCharacter(block: Buffer): number {
  const start = block.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return Math.max(0, start);
}

function encodedRegion(
  before: Buffer,
  region: Buffer,
  behind: Buffer,
  encoder: Encoder,
): Promise<string> {
  const [head = "", middle = "", tail = ""] = [before, region, behind].map((part) =>
    cleanText(part.toString()),
  );
  const [from, to] = [head.length, head.length + middle.length];
  return encoder.aside.encodeWithin(head + middle + tail, from, to);
}

/** Newest first. */
function linesOf(text: string, hasEnd: boolean): string[] {
  const lines = text.split("\n").toReversed();
  return hasEnd && lines[0] === "" ? lines.slice(1) : lines;
}

function reachedLimit(textLength: number, searchedBytes: number, ms: number): string | undefined {
  if (textLength >= MAX_TEXT_LENGTH) return "an answer holds 256 KiB";
  if (searchedBytes >= MAX_SEARCHED_BYTES) return "a search goes no further";
  return ms >= MAX_SEARCH_MS ? "a search lasts 10 s" : undefined;
}

function shorten(line: string): string {
  const head = headOf(line, MAX_LINE_LENGTH);
  const more = line.length - head.length;
  return more === 0 ? line : `${head} [… ${more} more characters]`;
}
