import damerauLevenshtein from "damerau-levenshtein";
import { wordsIn } from "../core/spellings.ts";
import { SAME_WORDS } from "./lexicon.ts";

/** What is said, as words that can be compared, and the phrases of skills that are looked for in it. */

const SAME = new Map(Object.entries(SAME_WORDS));
const SPELLED = new Set(SAME.keys());

/** Words as skills use them, for whatever the text has: `whats`, `what's` and `qué` are `what is` or `what`. */
export function plainWords(text: string): string[] {
  return wordsIn(withoutApostrophes(text)).flatMap((word) => SAME.get(word)?.split(" ") ?? [word]);
}

/** The same with all that stands between the words, and what is no such word as it is written. */
export function plainText(text: string): string {
  return withoutApostrophes(text).replaceAll(
    /(?<![\w.@/:-])\p{L}+(?![\w@/:-]|\.\w)/gu,
    (word) => SAME.get(word.toLowerCase()) ?? word,
  );
}

function withoutApostrophes(text: string): string {
  return text.replaceAll(/(?<=\p{L})['’](?=\p{L})/gu, "");
}

/** Words that `*` stands for, at the most. */
const MAX_GAP = 3;

type Part = { readonly gap: true } | { readonly gap: false; readonly words: readonly string[] };

/** Words in a row; `*` stands for up to three words, and `up|down` for either. */
export interface Phrase {
  readonly parts: readonly Part[];
  /** How many of its words have to be said. */
  readonly size: number;
}

export function phraseOf(text: string): Phrase {
  const parts = text.split(/\s+/).flatMap((part): Part[] => {
    if (part === "*") return [{ gap: true }];
    if (part.includes("|"))
      return [{ gap: false, words: part.split("|").flatMap((each) => plainWords(each)) }];
    return plainWords(part).map((word) => ({ gap: false, words: [word] }));
  });
  return { parts, size: parts.filter(({ gap }) => !gap).length };
}

/** True: the words have the phrase in them. All its beginnings are followed at once, a part at a time: many gaps cost no more than many words. */
export function isSaid({ parts, size }: Phrase, said: readonly string[]): boolean {
  if (size === 0) return false;
  let reached = new Set(said.keys());
  for (const part of parts) {
    reached = new Set([...reached].flatMap((at) => after(part, said, at)));
    if (reached.size === 0) return false;
  }
  return true;
}

/** Where the phrase may go on after this part. */
function after(part: Part, said: readonly string[], at: number): number[] {
  if (!part.gap) return part.words.includes(said[at] ?? "") ? [at + 1] : [];
  return Array.from({ length: MAX_GAP + 1 }, (_, gap) => at + gap);
}

export function wordsOf({ parts }: Phrase): string[] {
  return parts.flatMap((part) => (part.gap ? [] : part.words));
}

/** Shorter words are too like others; only two letters that changed places are put right in them. */
const MIN_LETTERS = 6;
const MIN_SWAPPED = 4;
/** One letter in so many may be wrong. */
const LETTERS_PER_MISTAKE = 5;

/**
 * The words with those of `known` that were meant in place of what is misspelled. The first letter is hardly ever wrong, so that
 * it has to be the same; what has a digit in it is no word.
 */
export function spelledRight(said: readonly string[], known: ReadonlySet<string>): string[] {
  return said.flatMap((word) => {
    if (known.has(word) || SAME.has(word) || word.length < MIN_SWAPPED || /\P{L}/u.test(word))
      return [word];
    const meant = closest(word, known) ?? closest(word, SPELLED);
    return meant === undefined ? [word] : (SAME.get(meant)?.split(" ") ?? [meant]);
  });
}

function closest(word: string, known: ReadonlySet<string>): string | undefined {
  const limit =
    word.length < MIN_LETTERS ? 0 : Math.min(2, Math.floor(word.length / LETTERS_PER_MISTAKE));
  let best: { other: string; steps: number } | undefined;
  for (const other of known) {
    if (other[0] !== word[0] || Math.abs(other.length - word.length) > limit) continue;
    // "log" and "logs" are both right.
    if (other.length < MIN_SWAPPED || other === `${word}s` || word === `${other}s`) continue;
    const isSwapped = isSwap(word, other);
    const { steps } = isSwapped ? { steps: 1 } : damerauLevenshtein(word, other);
    if ((isSwapped || steps <= limit) && steps < (best?.steps ?? Number.POSITIVE_INFINITY))
      best = { other, steps };
  }
  return best?.other;
}

/** Two letters beside each other changed places. */
function isSwap(word: string, other: string): boolean {
  if (word.length !== other.length) return false;
  const at = Array.from(word).findIndex((letter, i) => letter !== other[i]);
  return (
    at !== -1 &&
    word[at] === other[at + 1] &&
    word[at + 1] === other[at] &&
    word.slice(at + 2) === other.slice(at + 2)
  );
}
