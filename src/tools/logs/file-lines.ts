import { readSync } from "node:fs";
import { Readable } from "node:stream";
import { constants, createGunzip, createZstdDecompress } from "node:zlib";
import { messageOf } from "../../core/errors.ts";
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
  /** How it is compressed. */
  packed?: Packed | undefined;
}

type Packed = keyof typeof UNPACK;

export interface FileRead {
  bytes: number;
  /** Why not all of the window was read: of `bytes` the last were, else the first. */
  cut: "bytes" | "packed" | "time" | undefined;
  /** Lines say no time that can be read, so they are all taken. */
  untimed: boolean;
  /** Why it could be unpacked no further. */
  broken?: string;
}

const NEWLINE = 10;
const CHUNK_BYTES = 1024 * 1024;
/** zstd's strongest usual level needs 8 MiB; a file may ask for 2 GiB. */
const MAX_WINDOW_LOG = 24;
const UNPACK = {
  gzip: () => createGunzip({ chunkSize: CHUNK_BYTES }),
  zstd: () =>
    createZstdDecompress({
      chunkSize: CHUNK_BYTES,
      params: { [constants.ZSTD_d_windowLogMax]: MAX_WINDOW_LOG },
    }),
};
/** Looked through for a line with a time. */
const PROBE_BYTES = 64 * 1024;

type Take = (bytes: Buffer, from: number, to: number) => void;

/** Gives the lines of the window block by block, each with `reach` bytes around it where there are so many. */
export async function readWindow(window: FileWindow, reach: number, take: Take): Promise<FileRead> {
  return window.packed === undefined
    ? readPlain(window, reach, take)
    : readPacked(window, window.packed, { reach, take });
}

async function readPlain(window: FileWindow, reach: number, take: Take): Promise<FileRead> {
  const { fd, bytes: size, since, until, maxBytes, maxMs } = window;
  const began = performance.now();
  const begin = seek(window, since);
  const end = begin === undefined ? size : (seek(window, until) ?? size);
  const from = Math.max(begin ?? 0, end - maxBytes);
  let cut: FileRead["cut"] = from > (begin ?? 0) ? "bytes" : undefined;
  const at = cut === undefined ? from : lineBehind(fd, from, end);
  let read = 0;
  await eachBlock(chunksOf(fd, at, end), reach, (block, start, stop) => {
    take(block, start, stop);
    read += stop - start;
    if (performance.now() - began <= maxMs) return true;
    cut = "time";
    return false;
  });
  return { bytes: read, cut, untimed: begin === undefined };
}

/** Each is read into the same memory. */
function* chunksOf(fd: number, from: number, end: number): Generator<Buffer> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let at = from; at < end;) {
    const length = readSync(fd, chunk, 0, Math.min(CHUNK_BYTES, end - at), at);
    if (length === 0) return;
    at += length;
    yield chunk.subarray(0, length);
  }
}

/** Until `take` wants no more. A chunk is at most `CHUNK_BYTES` long. */
async function eachBlock(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  reach: number,
  take: (bytes: Buffer, from: number, to: number) => boolean,
): Promise<void> {
  // One buffer for all of them: what was taken last (for its `reach`), what is not taken yet, and the next chunk.
  const buffer = Buffer.alloc(2 * CHUNK_BYTES + 2 * reach);
  let start = 0;
  let filled = 0;
  for await (const chunk of chunks) {
    filled += chunk.copy(buffer, filled);
    // What a secret behind the last lines is, the next chunk shows.
    let stop = buffer.subarray(0, filled).lastIndexOf(NEWLINE, filled - reach) + 1;
    if (stop <= start) {
      if (filled + CHUNK_BYTES <= buffer.length) continue;
      // A line that is longer is taken in parts.
      stop = filled - reach;
    }
    if (!take(buffer.subarray(0, filled), start, stop)) return;
    const keep = Math.max(0, stop - reach);
    buffer.copyWithin(0, keep, filled);
    start = stop - keep;
    filled -= keep;
  }
  if (filled > start) take(buffer.subarray(0, filled), start, filled);
}

/** It can be read from its beginning only, so what is too much is left out at its end. */
async function readPacked(
  { fd, bytes: size, since, until, now, maxBytes, maxMs }: FileWindow,
  packed: Packed,
  { reach, take }: { reach: number; take: Take },
): Promise<FileRead> {
  const began = performance.now();
  const read: FileRead = { bytes: 0, cut: undefined, untimed: true };
  let isBegun = false;
  const source = Readable.from(packedParts(fd, size));
  const unpacked = source.pipe(UNPACK[packed]());
  try {
    await eachBlock(unpacked, reach, (block, from, to) => {
      const last = lastTime(block, from, to, now);
      if (last !== undefined) read.untimed = false;
      let begin = from;
      if (last !== undefined && last >= since && !isBegun) {
        begin = lineSince(block, { from, to, ms: since, now });
        isBegun = true;
      }
      const stop =
        last !== undefined && last >= until
          ? lineSince(block, { from: begin, to, ms: until, now })
          : to;
      if ((isBegun || read.untimed) && stop > begin) {
        take(block, begin, stop);
        read.bytes += stop - begin;
      }
      if (stop < to) return false;
      if (read.bytes > maxBytes) read.cut = "packed";
      else if (performance.now() - began > maxMs) read.cut = "time";
      return read.cut === undefined;
    });
  } catch (error) {
    read.broken = messageOf(error);
  } finally {
    unpacked.destroy();
    source.destroy();
  }
  return read;
}

const PART_BYTES = 64 * 1024;

/** Read one after the other in this thread: nothing reads from the file any more when the call has ended. */
function* packedParts(fd: number, size: number): Generator<Buffer> {
  for (let at = 0; at < size; at += PART_BYTES) {
    const part = readPart(fd, at, Math.min(PART_BYTES, size - at));
    if (part.length === 0) return;
    yield part;
  }
}

/** Of the last line there that says its time. */
function lastTime(bytes: Buffer, from: number, to: number, now: number): number | undefined {
  const least = Math.max(from, to - PROBE_BYTES);
  for (let end = to - 1; end >= least;) {
    const begin = Math.max(from, bytes.lastIndexOf(NEWLINE, end - 1) + 1);
    const ms = timeOfLine(bytes.toString("latin1", begin, Math.min(begin + 80, to)), now);
    if (ms !== undefined) return ms;
    end = begin - 1;
  }
  return undefined;
}

/** Where the first line of that time or later begins; `to`: there is none. */
function lineSince(
  bytes: Buffer,
  { from, to, ms, now }: { from: number; to: number; ms: number; now: number },
): number {
  for (let at = from; at < to;) {
    const time = timeOfLine(bytes.toString("latin1", at, Math.min(at + 80, to)), now);
    if (time !== undefined && time >= ms) return at;
    const next = bytes.indexOf(NEWLINE, at);
    if (next < 0 || next >= to) return to;
    at = next + 1;
  }
  return to;
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
