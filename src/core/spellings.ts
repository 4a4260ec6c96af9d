import damerauLevenshtein from "damerau-levenshtein";

/** A misspelled word finds at the most so many others. */
const MAX_ALIKE = 12;
/** Words that are kept, 10 MB of them: of others no misspellings are found. */
const MAX_KNOWN = 100_000;
/** Longer ones are no words that somebody types. */
const MAX_LETTERS = 32;

export function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}\p{M}\p{Co}]+/gu) ?? [];
}

/**
 * The words of some texts, to find those that are spelled alike: one letter in five may be wrong. What has a digit
 * in it is never misspelled, as 502 is no 503. Words that are gone may stay.
 */
export function createSpellings() {
  /** By length, in the order in which they came. */
  const known = new Map<number, Known>();
  let count = 0;

  function add(word: string): void {
    const alike = known.get(word.length) ?? { words: new Set(), letters: [] };
    if (count === MAX_KNOWN || alike.words.has(word) || !isSpelled(word)) return;
    known.set(word.length, alike);
    alike.words.add(word);
    alike.letters.push(lettersOf(word));
    count += 1;
  }

  return {
    add(words: Iterable<string>): void {
      for (const word of words) add(word);
    },
    /** Other words that this one may have been meant to be, the closest first. */
    alike(word: string): string[] {
      const limit = isSpelled(word) ? Math.min(6, Math.round(word.length * 0.2)) : 0;
      if (limit === 0) return [];
      const letters = lettersOf(word);
      const found: { other: string; steps: number }[] = [];
      for (let length = word.length - limit; length <= word.length + limit; length++) {
        const { words, letters: all } = known.get(length) ?? NONE;
        let i = 0;
        for (const other of words) {
          const others = all[i++] ?? 0;
          if (bitsIn(letters & ~others) > limit || bitsIn(others & ~letters) > limit) continue;
          if (other === word) continue;
          const { steps } = damerauLevenshtein(word, other);
          if (steps <= limit) found.push({ other, steps });
        }
      }
      return found
        .toSorted((a, b) => a.steps - b.steps)
        .slice(0, MAX_ALIKE)
        .map(({ other }) => other);
    },
  };
}

/** Words of one length, each with the letters that occur in it, a bit each: this rules out nearly all others at once. */
interface Known {
  readonly words: Set<string>;
  readonly letters: number[];
}

const NONE: Known = { words: new Set(), letters: [] };

function isSpelled(word: string): boolean {
  return word.length <= MAX_LETTERS && !/\p{N}/u.test(word);
}

function lettersOf(word: string): number {
  let bits = 0;
  for (let i = 0; i < word.length; i++) bits |= 1 << (word.charCodeAt(i) & 31);
  return bits;
}

/** All at once: sums of pairs of bits, of fours, of eights. */
function bitsIn(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
