import { headOf } from "../core/text.ts";

/** How the network's findings are written: in errors and in the reports of checks. */

/**
 * Other people's text on one line of a report: control characters and bytes that are no text are written out (`\x00`),
 * and what is longer than `maxLength` is cut with a `…`.
 */
export function printable(text: string, maxLength: number): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escapeCharacter);
  return line.length > maxLength ? `${headOf(line, maxLength)}…` : line;
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return code < 256 ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex}}`;
}

/** `0.4 ms`, `34 ms`, `1.5 s`. */
export function formatMs(ms: number): string {
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${Number((ms / 1_000).toFixed(1))} s`;
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
