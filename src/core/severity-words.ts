/** How grave monitoring systems call what they tell, as incidents are graded; `quiet`: it only tells. */
export type Grade = "sev1" | "sev2" | "sev3" | "quiet";

/** In small letters; those with a number are read beside them. */
const WORDS: readonly { grade: Grade; words: readonly string[]; numbered: RegExp }[] = [
  {
    grade: "sev1",
    words: ["critical", "crit", "page", "emergency", "emerg", "fatal", "disaster"],
    numbered: /^(?:sev-?[01]|p[01]|1)$/,
  },
  { grade: "sev2", words: ["error", "err", "high", "major"], numbered: /^(?:sev-?2|p2|2)$/ },
  {
    grade: "sev3",
    words: ["warning", "warn", "medium", "minor", "average"],
    numbered: /^(?:sev-?3|p3|3)$/,
  },
  {
    grade: "quiet",
    words: [
      "information",
      "informational",
      "info",
      "none",
      "low",
      "lowest",
      "debug",
      "notice",
      "ok",
    ],
    numbered: /^(?:sev-?[45]|p[45])$/,
  },
];

/** All of them that are no numbers. */
export const SEVERITY_WORDS: readonly string[] = WORDS.flatMap(({ words }) => words);

/** What is usually meant by the word; undefined: nobody can know. */
export function gradeOf(word: string): Grade | undefined {
  const said = word.toLowerCase();
  return WORDS.find(({ words, numbered }) => words.includes(said) || numbered.test(said))?.grade;
}

/** Labels in which systems say it, the most telling first. */
export const SEVERITY_LABELS = ["severity", "priority", "level"] as const;

type Labels = Readonly<Record<string, string>>;

/** As its system says it. */
export function severityOf(labels: Labels): string | undefined {
  const label = SEVERITY_LABELS.find((each) => labels[each] !== undefined);
  return label && labels[label];
}

const URGENCIES: Readonly<Record<Grade, number>> = { sev1: 3, sev2: 2, sev3: 1, quiet: 0 };

/** 0: it only tells. 3: as urgent as can be. */
export function urgencyOf(labels: Labels): number {
  const grade = gradeOf(severityOf(labels) ?? "");
  return grade === undefined ? 1 : URGENCIES[grade];
}
