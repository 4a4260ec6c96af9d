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

/** `127.0.0.1:80`, `[::1]:80`. */
export function formatAddress(address: string, port: number): string {
  return address.includes(":") && !address.startsWith("[")
    ? `[${address}]:${port}`
    : `${address}:${port}`;
}
