import { cleanText } from "../../security/sanitize.ts";
import { headOf } from "../../core/text.ts";
import type { Encoder } from "../../security/encoder.ts";

/**
 * Other people's text on one line of a report: control characters and bytes that are no text are written out (`\x00`),
 * and what is longer than `maxLength` is cut with a `…`.
 */
export function printable(text: string, maxLength: number): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escapeCharacter);
  return line.length > maxLength ? `${headOf(line, maxLength)}…` : line;
}

/**
 * The first `maxLength` characters of other people's text on one line, as `printable`. A secret in it, or across its
 * end, is taken out: `text` has to go on for the encoder's reach, unless that is all of it.
 */
export function printablePart(text: string, maxLength: number, encoder: Encoder): string {
  const clean = cleanText(text);
  const safe = encoder.encodeWithin(clean, 0, maxLength);
  // Only where there is no secret in it: between written-out characters none would be found any more.
  const isPlain = safe === clean.slice(0, maxLength);
  const part = printable(isPlain ? text.slice(0, maxLength) : safe, Number.POSITIVE_INFINITY);
  return text.length > maxLength ? `${part}…` : part;
}

/** Other people's text as lines that cannot be taken for the report's own. */
export function quoted(text: string): string[] {
  return cleanText(text)
    .split(/\r\n|\n|\r/)
    .map((line) => `  | ${printable(line.replace(/\t/g, "  "), 400)}`);
}

/** `0.4 ms`, `34 ms`, `1.5 s`. */
export function formatMs(ms: number): string {
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${Number((ms / 1_000).toFixed(1))} s`;
}

/** `connect 0.4 ms, total 34 ms`, without the steps that did not happen. */
export function formatTimes(steps: readonly (readonly [string, number | undefined])[]): string {
  return steps
    .flatMap(([step, ms]) => (ms === undefined ? [] : `${step} ${formatMs(ms)}`))
    .join(", ");
}

/** `512 bytes`, `1.2 KiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  return `${Number((bytes / 1_024).toFixed(1))} KiB`;
}

/** `127.0.0.1:80`, `[::1]:80`. */
export function formatAddress(address: string, port: number): string {
  return address.includes(":") && !address.startsWith("[")
    ? `[${address}]:${port}`
    : `${address}:${port}`;
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return code < 256 ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex}}`;
}
