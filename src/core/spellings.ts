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
  /** With the letters that occur in it, a bit each: this rules out nearly all others at once. */
  const known = new Map<string, number>();
  return {
    add(words: Iterable<string>): void {
      for (const word of words)
        if (known.size < MAX_KNOWN && !known.has(word) && isSpelled(word))
          known.set(word, lettersOf(word));
    },
    /** Other words that this one may have been meant to be, the closest first. */
    alike(word: string): string[] {
      const limit = isSpelled(word) ? Math.min(6, Math.round(word.length * 0.2)) : 0;
      if (limit === 0) return [];
      const letters = lettersOf(word);
      const found: { other: string; steps: number }[] = [];
      for (const [other, others] of known) {
        if (Math.abs(other.length - word.length) > limit || other === word) continue;
        if (bitsIn(letters & ~others) > limit || bitsIn(others & ~letters) > limit) continue;
        const { steps } = damerauLevenshtein(word, other);
        if (steps <= limit) found.push({ other, steps });
      }
      return found
        .toSorted((a, b) => a.steps - b.steps)
        .slice(0, MAX_ALIKE)
        .map(({ other }) => other);
    },
  };
}

function isSpelled(word: string): boolean {
  return word.length <= MAX_LETTERS && !/\p{N}/u.test(word);
}

function lettersOf(word: string): number {
  let bits = 0;
  for (let i = 0; i < word.length; i++) bits |= 1 << (word.charCodeAt(i) & 31);
  return bits;
}

function bitsIn(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count += 1;
  return count;
}
