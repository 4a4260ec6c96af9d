import { wordsIn } from "./spellings.ts";

/** Of a longer text the first ones count. */
const MAX_TERMS = 400;

/** Words that every text has, and that say nothing of what it is about. */
const COMMON = new Set(
  `a about after again all also an and any are as at be because been before being but by can could did do does doing down for
   from had has have having he her here his how i if in into is it its itself just me more most my no nor not now of off on once
   only or other our out over own same she should so some such than that the their them then there these they this those through
   to too under until up very was we were what when where which while who whom why will with would you your please tell look
   check see seems looks like get got gets getting give gives gave us let lets anyone somebody something keep keeps kept since still today yesterday`
    .split(/\s+/)
    .filter((word) => word !== ""),
);

const ENDINGS: readonly [RegExp, string][] = [
  [/(?:ies|ied)$/, "y"],
  [/(?<=[a-z]{3})(?:ings|ing|edly|ed|es|s)$/, ""],
  [/(?<=[a-z]{3})e$/, ""],
];

/** The word without its ending: `restarts`, `restarted` and `restarting` are `restart`. Names with a digit stay as they are. */
function stemOf(word: string): string {
  if (word.length < 4 || /[^a-z]/.test(word) || /(?:ss|us|is)$/.test(word)) return word;
  let stem = word;
  for (const [ending, put] of ENDINGS) stem = stem.replace(ending, put);
  return stem.replace(/([bdglmnprt])\1$/, "$1");
}

/** Names such as `web-3`, whose last part alone says nothing. */
const NUMBERED = /(?<![\p{L}\p{N}])\p{L}[\p{L}\p{N}]+-\p{N}(?![\p{L}\p{N}])/gu;

/** It says which one of several alike is meant, and nothing of what is the matter. */
export function isNumbered(term: string): boolean {
  return term.includes("-");
}

/** The text's words as both questions and what is remembered are compared: in order, stems, without those that say nothing. `web-3` is `web`, and `web-3` at the end. */
export function termsIn(text: string): string[] {
  const words = wordsIn(text.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, " "));
  const stems = words
    .filter((word) => word.length > 1 && !COMMON.has(word))
    .slice(0, MAX_TERMS)
    .map(stemOf);
  const numbered = text.toLowerCase().match(NUMBERED) ?? [];
  return [...stems, ...numbered.slice(0, MAX_TERMS)];
}
