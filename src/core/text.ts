import { characterEnd, characterStart } from "./characters.ts";

/**
 * The text in at most `maxBytes` bytes of UTF-8: what is too much is taken from the middle, at line ends when they are
 * near, else between characters, and its size is said in its place. Too few bytes even for that: only the beginning.
 */
export function capText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const room = maxBytes - Buffer.byteLength(omitted(bytes.length));
  let head = room > 0 ? Math.ceil(room / 2) : Math.max(0, maxBytes);
  while (isContinuation(bytes[head])) head -= 1;
  if (room <= 0) return wholeHead(text, bytes.toString("utf8", 0, head));
  let tail = bytes.length - (room - head);
  while (isContinuation(bytes[tail])) tail += 1;
  const lineEnd = bytes.lastIndexOf("\n", head);
  if (lineEnd > head / 2) head = lineEnd;
  const lineStart = bytes.indexOf("\n", tail - 1) + 1;
  if (lineStart > 0 && lineStart < (tail + bytes.length) / 2) tail = lineStart;
  const start = wholeHead(text, bytes.toString("utf8", 0, head));
  const rest = bytes.toString("utf8", tail);
  const from = text.length - rest.length;
  const end = rest.slice(characterStart(text, from) - from);
  const left = bytes.length - Buffer.byteLength(start) - Buffer.byteLength(end);
  return start + omitted(left) + end;
}

/**
 * The first `maxLength` characters, less the word that is cut in two: for text that is not redacted yet, in which half a
 * secret would not be found.
 */
export function headOf(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const head = text.slice(0, maxLength);
  const word = /\S*$/.exec(head.slice(-MAX_WORD))?.[0].length ?? 0;
  return head.slice(0, maxLength - word);
}

/** The first `maxLength` characters, and `…` where there are more. */
export function shortened(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength).toWellFormed()}…` : text;
}

/** The same line several times in a row once, as `line (×3)`. */
export function folded(lines: readonly string[]): string[] {
  const rows: { line: string; count: number }[] = [];
  for (const line of lines) {
    const last = rows.at(-1);
    if (last?.line === line) last.count += 1;
    else rows.push({ line, count: 1 });
  }
  return rows.map(({ line, count }) => (count === 1 ? line : `${line} (×${count})`));
}

/** What somebody wrote, in quotes and cut at 40 characters: for a message about it. */
export function inQuotes(text: string): string {
  return JSON.stringify(shortened(text, 40));
}

/** `1 incident`, `3 incidents` */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** `512 bytes`, `1.5 KiB`, `20 GiB` */
export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return counted(bytes, "byte");
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length);
  return `${Number((bytes / 1_024 ** power).toFixed(1))} ${UNITS[power - 1]}`;
}

/** `9 MB`, `8.4 MB`, in steps of 1024 as the limits of files are. */
export function megabytes(bytes: number): string {
  return `${Number((bytes / 1024 / 1024).toFixed(1))} MB`;
}

const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB"];

/** `40 %` of the whole; `–` of nothing. */
export function percent(part: number, whole = 1): string {
  return whole === 0 ? "–" : `${Math.round((part / whole) * 100)} %`;
}

/** Without line breaks, and no more than one space at a time. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** A beginning of the text, less a character that it parts. */
function wholeHead(text: string, head: string): string {
  return head.slice(0, characterEnd(text, head.length));
}

/** Secrets without a space in them are shorter, but for those that are known by their shape. */
const MAX_WORD = 200;

function omitted(bytes: number): string {
  return `\n[… ${bytes} bytes omitted …]\n`;
}
