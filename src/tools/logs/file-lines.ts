import { readSync } from "node:fs";
import { timeOfLine } from "./time-of-line.ts";

/** Which lines of an open file are meant, and how much of them may be read. */
export interface FileWindow {
  fd: number;
  /** Its size. */
  bytes: number;
  /** ms since 1970 */
  since: number;
  until: number;
  now: number;
  maxBytes: number;
  maxMs: number;
}

export interface FileRead {
  bytes: number;
  /** Why not all of the window was read; of its bytes the last are. */
  cut: "bytes" | "time" | undefined;
  /** Lines say no time that can be read, so they are all taken. */
  untimed: boolean;
}

const NEWLINE = 10;
const CHUNK_BYTES = 1024 * 1024;
/** Looked through for a line with a time. */
const PROBE_BYTES = 64 * 1024;

/** Gives the lines of the window block by block, each with `reach` bytes around it where there are so many. */
export function readWindow(
  window: FileWindow,
  reach: number,
  take: (bytes: Buffer, from: number, to: number) => void,
): FileRead {
  const { fd, bytes: size, since, until, maxBytes, maxMs } = window;
  const began = performance.now();
  const begin = seek(window, since);
  const end = begin === undefined ? size : (seek(window, until) ?? size);
  const from = Math.max(begin ?? 0, end - maxBytes);
  let cut: FileRead["cut"] = from > (begin ?? 0) ? "bytes" : undefined;
  let at = cut === undefined ? from : lineBehind(fd, from, end);
  let read = 0;
  // One buffer for all of them: what was taken last (for its `reach`), what is not taken yet, and the next chunk.
  const buffer = Buffer.alloc(2 * CHUNK_BYTES + 2 * reach);
  let start = 0;
  let filled = 0;
  while (at < end) {
    if (performance.now() - began > maxMs) {
      cut = "time";
      break;
    }
    const length = readSync(fd, buffer, filled, Math.min(CHUNK_BYTES, end - at), at);
    if (length === 0) break;
    at += length;
    filled += length;
    const block = buffer.subarray(0, filled);
    // What a secret behind the last lines is, the next chunk shows.
    let stop = at >= end ? filled : block.lastIndexOf(NEWLINE, filled - reach) + 1;
    if (stop <= start) {
      if (filled + CHUNK_BYTES <= buffer.length) continue;
      // A line that is longer is taken in parts.
      stop = filled - reach;
    }
    take(block, start, stop);
    read += stop - start;
    const keep = Math.max(0, stop - reach);
    buffer.copyWithin(0, keep, filled);
    start = stop - keep;
    filled -= keep;
  }
  return { bytes: read, cut, untimed: begin === undefined };
}

function readPart(fd: number, from: number, length: number): Buffer<ArrayBuffer> {
  const part = Buffer.alloc(length);
  return part.subarray(0, readSync(fd, part, 0, length, from));
}

function lineBehind(fd: number, at: number, end: number): number {
  const newline = readPart(fd, at, Math.min(PROBE_BYTES, end - at)).indexOf(NEWLINE);
  return newline < 0 ? at : at + newline + 1;
}

interface Timed {
  /** Where the line begins. */
  at: number;
  ms: number;
}

/** The first line from there on, within a probe, that says its time. */
function timedLine({ fd, bytes: size, now }: FileWindow, from: number): Timed | undefined {
  const probe = readPart(fd, from, Math.min(PROBE_BYTES, size - from));
  let at = from === 0 ? 0 : probe.indexOf(NEWLINE) + 1;
  if (from > 0 && at === 0) return undefined;
  while (at < probe.length) {
    const ms = timeOfLine(probe.toString("latin1", at, Math.min(at + 80, probe.length)), now);
    if (ms !== undefined) return { at: from + at, ms };
    const next = probe.indexOf(NEWLINE, at);
    if (next < 0) return undefined;
    at = next + 1;
  }
  return undefined;
}

/** Where the first line of that time or later begins, since lines stand in order; undefined: they do not say. */
function seek(window: FileWindow, ms: number): number | undefined {
  const first = timedLine(window, 0);
  if (first === undefined) return undefined;
  if (first.ms >= ms) return first.at;
  let [low, high] = [first.at, window.bytes];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const found = timedLine(window, middle);
    if (found === undefined || found.at >= high || found.ms >= ms) high = middle;
    else low = found.at;
  }
  // `low` is the last line before it that was seen; what follows it may be too.
  let at = low;
  for (;;) {
    const next = timedLine(window, at + 1);
    if (next === undefined) return window.bytes;
    if (next.ms >= ms) return next.at;
    at = next.at;
  }
}
