import { globMatches } from "../core/glob.ts";
import { wordsIn } from "../core/spellings.ts";
import type { Hint } from "./hints.ts";
import { withPortWords } from "./ports.ts";
import { isSaid, type Phrase, phraseOf, plainWords, spelledRight, wordsOf } from "./phrases.ts";
import type { Checks } from "./schema.ts";
import type { Subject } from "./subject.ts";

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
  /** What the words name. Left out: a skill that is about something of the kind fits by its words alone. */
  subject?: Subject | undefined;
}

/**
 * Of one skill: its alert's name says it, else words of its own (each more in a row counts on), what it is about, its name
 * (a part of it counts as a part), and words that its description shares.
 */
const SCORE = { alert: 100, words: 10, more: 2, about: 1, name: 6, description: 1 };
/** One word of a description is chance, two may be. */
const FLOOR = 5;
/** A skill that fits less than half as well as the best is about something else. */
const SHARE = 0.5;
const MAX_SKILLS = 3;
/** Letters of a word that count: fewer, and a server is a service. */
const STEM = 6;
/** Words that say nothing of what is wrong. */
const COMMON = new Set(
  "and any are can check does find for from has have how into last look not now one our out please see show slow some that the their then there they this use used uses was what when where which who why will with you your".split(
    " ",
  ),
);

/** Those that fit, the best first, at most `most`. Who only looks for one and reads what it is for may ask for a lower floor. */
export function matching<S extends DescribedSkill>(
  skills: readonly S[],
  topic: Topic,
  { most = MAX_SKILLS, floor = FLOOR }: { most?: number; floor?: number } = {},
): S[] {
  const known = skills.map((skill) => ({ skill, phrases: phrasesOf(skill) }));
  const vocabulary = new Set(known.flatMap(({ phrases }) => phrases.flatMap(wordsOf)));
  const said = spelledRight(saidIn(topic), vocabulary);
  const meant = new Set(said.filter((word) => word.length > 2 && !COMMON.has(word)).map(stemOf));
  const scored = known
    .map(({ skill, phrases }) => {
      const byWords = scoreOf(skill, phrases, topic, said, meant);
      const byAlert = isAlertOf(skill, topic) ? SCORE.alert : 0;
      return { skill, byWords, score: byWords + byAlert };
    })
    .filter(({ score }) => score >= floor)
    .toSorted((a, b) => b.score - a.score || (a.skill.name < b.skill.name ? -1 : 1));
  // A match by an alert's name scores far more than one by words: scores of words are compared with each other alone.
  const enough = SHARE * Math.max(0, ...scored.map(({ byWords }) => byWords));
  return scored
    .filter(({ score }) => floor < FLOOR || score >= enough)
    .slice(0, most)
    .map(({ skill }) => skill);
}

/** The words without those of addresses: `slow.example.com` is not slow. */
export function saidIn({ text }: Pick<Topic, "text">): string[] {
  return plainWords(withPortWords(text).replaceAll(ADDRESS, " "));
}

/** Of a URL, and names of hosts: what has capitals is a program's class. */
const ADDRESS =
  /[a-zA-Z][a-zA-Z0-9+.-]{0,30}:\/\/\S+|(?<![\w.-])[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}(?![\w(-])(?::\d{2,5})?|(?<![\w-])(?:[\w-]+|\d+(?:\.\d+){3}):\d{3,5}(?!\w)|(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?![\w.-])/g;

function phrasesOf({ checks }: DescribedSkill): Phrase[] {
  return (checks?.when.words ?? []).map(phraseOf);
}

const UNCHECKED: Pick<Checks, "when"> = { when: { alerts: [], words: [], about: [] } };

function isAlertOf({ checks: { when } = UNCHECKED }: DescribedSkill, { alerts = [] }: Topic) {
  return alerts.some((alert) =>
    when.alerts.some((glob) => globMatches(glob.toLowerCase(), alert.toLowerCase())),
  );
}

function scoreOf(
  { name, description, checks: { when } = UNCHECKED }: DescribedSkill,
  phrases: readonly Phrase[],
  { subject }: Topic,
  said: readonly string[],
  meant: ReadonlySet<string>,
): number {
  const isAbout = subject !== undefined && when.about.some((part) => subject[part] !== undefined);
  if (subject !== undefined && when.about.length > 0 && !isAbout) return 0;
  const heard = phrases.filter((each) => isSaid(each, said));
  // "does not answer" has "not answer" in it, and is one thing that is said.
  const words = heard
    .filter((each, at) => !heard.some((other, i) => isPartOf(each, other, i < at)))
    .reduce((sum, { size }) => sum + SCORE.words + SCORE.more * (size - 1), 0);
  // An address alone asks how it is.
  const alone = isAbout && said.length === 0 ? FLOOR : 0;
  const about = isAbout && words > 0 ? SCORE.about : alone;
  if (when.about.length > 0) return words + about;
  const shared = (text: string) =>
    new Set(
      plainWords(text)
        .map(stemOf)
        .filter((stem) => meant.has(stem)),
    ).size;
  return (
    words +
    SCORE.name * (shared(name) / wordsIn(name).length) +
    SCORE.description * shared(description)
  );
}

/** `isEarlier`: of two that say the same the earlier one stays. */
function isPartOf(phrase: Phrase, other: Phrase, isEarlier: boolean): boolean {
  if (phrase === other || other.size < phrase.size) return false;
  if (other.size === phrase.size && !isEarlier) return false;
  const all = new Set(wordsOf(other));
  return wordsOf(phrase).every((word) => all.has(word));
}

/** So that "certificates" meets "certificate", and "expired" meets "expires". */
function stemOf(word: string): string {
  return word.replace(/s$/, "").slice(0, STEM);
}
