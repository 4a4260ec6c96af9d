import { oneLine } from "../../core/text.ts";
import { characterEnd } from "../../core/characters.ts";

const MAX_SUMMARY = 150;

/** The most characters that a platform needs to show the text as it is: marks need an escape, new lines a prefix. */
export function weightOf(text: string): number {
  let weight = 0;
  for (const char of text) {
    weight += /[\p{L}\p{N} ]/u.test(char) ? char.length : char === "\n" ? 10 : 2;
  }
  return weight;
}

/** The text, or what of it weighs less than `room` and `…`. Never for what somebody approves. */
export function clip(text: string, room: number): string {
  if (weightOf(text) <= room) return text;
  let left = room - 2;
  let kept = "";
  for (const char of text) {
    left -= weightOf(char);
    if (left < 0) break;
    kept += char;
  }
  return `${kept.slice(0, characterEnd(text, kept.length))}…`;
}

/** The text on one line of at most 150 characters. */
export function summaryOf(text: string): string {
  const line = oneLine(text);
  if (line.length <= MAX_SUMMARY) return line;
  return `${line.slice(0, characterEnd(line, MAX_SUMMARY - 1))}…`;
}
