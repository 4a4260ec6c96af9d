/** What was asked for, and in how many texts it is known to be. */
interface AskedWord {
  word: string;
  alike: readonly string[];
  known: number;
}

/** As Okapi BM25 has them: how soon more of a word says no more, and how much longer texts count less. */
const [SATURATION, LENGTH] = [1.2, 0.75];

/**
 * Ranks texts that have all words: `grade` says how exactly (0: as they are, 1: some only as a beginning, 2: some only spelled
 * alike), `score` how much the words are what the text is about. A text has a line for each field, with that field's weight.
 */
export function createRanking(
  asked: readonly AskedWord[],
  texts: readonly string[],
  weights: readonly number[],
) {
  const lengths = texts.map((text) => text.length);
  const mean = lengths.reduce((sum, length) => sum + length, 0) / texts.length;
  const rarest = asked.map(({ word, alike, known }) => ({
    word,
    alike: new Set(alike),
    // A word that more have says less.
    says: 1 / Math.log2(2 + known),
  }));

  return (i: number): { grade: number; score: number } => {
    const found = rarest.map(() => ({ grade: 2, weight: 0 }));
    for (const [field, line] of (texts[i] ?? "").split("\n").entries()) {
      for (const word of line.split(" ")) {
        for (const [at, one] of rarest.entries()) {
          const grade = gradeOf(word, one);
          const best = found[at];
          if (grade === undefined || best === undefined) continue;
          // Where it is as it was asked for, it does not matter what else is alike.
          if (grade < best.grade) found[at] = { grade, weight: weights[field] ?? 0 };
          else if (grade === best.grade) best.weight += weights[field] ?? 0;
        }
      }
    }
    const long = SATURATION * (1 - LENGTH + (LENGTH * (lengths[i] ?? mean)) / mean);
    const score = found.reduce(
      (sum, { weight }, at) => sum + ((rarest[at]?.says ?? 0) * weight) / (weight + long),
      0,
    );
    return { grade: Math.max(...found.map(({ grade }) => grade)), score };
  };
}

function gradeOf(
  found: string,
  { word, alike }: { word: string; alike: ReadonlySet<string> },
): number | undefined {
  if (found === word) return 0;
  if (found.startsWith(word)) return 1;
  return alike.has(found) ? 2 : undefined;
}
