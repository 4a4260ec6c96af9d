import { globMatches } from "../core/glob.ts";
import { wordsIn } from "../core/spellings.ts";
import type { Hint } from "./hints.ts";
import type { Checks } from "./schema.ts";

/** Which skills' checks fit an alert or a question. */

export interface CheckedSkill extends DescribedSkill {
  readonly checks: Checks;
  readonly hints?: readonly Hint[] | undefined;
}

/** What can be looked for by its words. */
export interface DescribedSkill {
  readonly name: string;
  readonly description: string;
  readonly checks?: Pick<Checks, "when"> | undefined;
}

/** What is to be looked into: names of alerts where there are any, and all its words. */
export interface Topic {
  alerts?: readonly string[] | undefined;
  text: string;
}

/** Of one skill: its alert's name says it, else words of its own, its name (a part of it counts as a part), and words that its description shares. */
const SCORE = { alert: 100, words: 10, name: 6, description: 1 };
/** One word of a description is chance, two may be. */
const FLOOR = 5;
const MAX_SKILLS = 3;
/** Letters of a word that count: fewer, and a server is a service. */
const STEM = 6;
/** Words that say nothing of what is wrong. */
const COMMON = new Set(
  "and any are can check does find for from has have how into last look not now one our out please see show slow some that the their then there they this use used was what when where which who why will with you your".split(
    " ",
  ),
);

/** Those that fit, the best first, at most `most`. Who only looks for one and reads what it is for may ask for a lower floor. */
export function matching<S extends DescribedSkill>(
  skills: readonly S[],
  topic: Topic,
  { most = MAX_SKILLS, floor = FLOOR }: { most?: number; floor?: number } = {},
): S[] {
  const said = wordsIn(topic.text);
  const row = ` ${said.join(" ")} `;
  const meant = new Set(said.filter((word) => word.length > 2 && !COMMON.has(word)).map(stemOf));
  return skills
    .map((skill) => ({ skill, score: scoreOf(skill, topic, row, meant) }))
    .filter(({ score }) => score >= floor)
    .toSorted((a, b) => b.score - a.score || (a.skill.name < b.skill.name ? -1 : 1))
    .slice(0, most)
    .map(({ skill }) => skill);
}

const UNCHECKED: Pick<Checks, "when"> = { when: { alerts: [], words: [] } };

function scoreOf(
  { name, description, checks: { when } = UNCHECKED }: DescribedSkill,
  { alerts = [] }: Topic,
  row: string,
  meant: ReadonlySet<string>,
): number {
  const isAlert = alerts.some((alert) =>
    when.alerts.some((glob) => globMatches(glob.toLowerCase(), alert.toLowerCase())),
  );
  const words = when.words.filter((each) => row.includes(` ${wordsIn(each).join(" ")} `)).length;
  const shared = (text: string) =>
    new Set(
      wordsIn(text)
        .map(stemOf)
        .filter((stem) => meant.has(stem)),
    ).size;
  return (
    (isAlert ? SCORE.alert : 0) +
    SCORE.words * words +
    SCORE.name * (shared(name) / wordsIn(name).length) +
    SCORE.description * shared(description)
  );
}

/** So that "certificates" meets "certificate", and "expired" meets "expires". */
function stemOf(word: string): string {
  return word.replace(/s$/, "").slice(0, STEM);
}
