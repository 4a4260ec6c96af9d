import { lazily } from "./lazily.ts";

/** Where a text may be cut: never within what its readers see as one character. */

/** Joined emoji and letters with their marks are shorter. What is longer was built to be, and is cut between its parts. */
const MAX_CHARACTER = 64;
/** Below this no character joins another. */
const FIRST_JOINING = 0x300;

const segmenter = lazily(() => new Intl.Segmenter("en", { granularity: "grapheme" }));

/** The last place up to `at` that parts no character; 0 where the first one goes on. */
export function characterEnd(text: string, at: number): number {
  return characterAt(text, at).start;
}

/** The first place from `at` on that parts no character. */
export function characterStart(text: string, at: number): number {
  const { start, end } = characterAt(text, at);
  return start === at ? at : end;
}

/** The character that stands at a place, and where it ends; an empty one at the text's end. */
function characterAt(text: string, at: number): { start: number; end: number } {
  if (at <= 0 || at >= text.length) return { start: at, end: at };
  const isPlain = text.charCodeAt(at - 1) < FIRST_JOINING && text.charCodeAt(at) < FIRST_JOINING;
  if (isPlain) return { start: at, end: at + 1 };
  const from = Math.max(0, at - MAX_CHARACTER);
  const found = segmenter()
    .segment(text.slice(from, at + MAX_CHARACTER))
    .containing(at - from);
  const start = from + (found?.index ?? at - from);
  const end = start + (found?.segment.length ?? 0);
  const isWhole = (start > from || from === 0) && end < at + MAX_CHARACTER;
  if (isWhole || end === text.length) return { start, end };
  return partsPair(text, at) ? { start: at - 1, end: at + 1 } : { start: at, end: at + 1 };
}

function partsPair(text: string, at: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(at - 1, at + 1));
}
