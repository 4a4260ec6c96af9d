/** How grave monitoring systems call what they tell, as incidents are graded; `quiet`: it only tells. */
export type Grade = "sev1" | "sev2" | "sev3" | "quiet";

const GRADES: readonly { grade: Grade; words: RegExp }[] = [
  {
    grade: "sev1",
    words: /^(?:critical|crit|page|emergency|emerg|fatal|disaster|sev-?[01]|p[01]|1)$/i,
  },
  { grade: "sev2", words: /^(?:error|err|high|major|sev-?2|p2|2)$/i },
  { grade: "sev3", words: /^(?:warning|warn|medium|minor|average|sev-?3|p3|3)$/i },
  {
    grade: "quiet",
    words: /^(?:info|information|informational|none|low|lowest|debug|notice|ok|sev-?[45]|p[45])$/i,
  },
];

/** What is usually meant by the word; undefined: nobody can know. */
export function gradeOf(word: string): Grade | undefined {
  return GRADES.find(({ words }) => words.test(word))?.grade;
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
