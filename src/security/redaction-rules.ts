import { findAssignments, isGiven, looksRandom } from "./redaction-assignments.ts";
import { literal, type Range } from "./redaction-encodings.ts";
import { findCompared, findKubernetesSecrets, findPrivateKeys } from "./redaction-finders.ts";
import { type Doubt, SECRET_PATTERNS, type SecretPattern } from "./redaction-patterns.ts";
import { type SecretShape, SECRET_SHAPES } from "./redaction-shapes.ts";

/** One form of secret. `find` takes linear time and never throws. */
export interface SecretRule {
  /** Stands in the text instead of what was found: `[secret:<name>]`. */
  readonly name: string;
  /** In lower case. A text that has none of them is not searched; one of a single character is not looked for. */
  readonly clues: readonly string[];
  readonly find: (text: string) => Range[];
}

const ACCEPTS: Readonly<Record<Doubt, (found: string) => boolean>> = {
  given: isGiven,
  random: looksRandom,
  login: isLogin,
  "random or login": (found) => looksRandom(found) || isLogin(found),
  "digit and capital": (found) => /\d/.test(found) && /[A-Z]/.test(found),
};

/** Base64 of `user:password`. */
function isLogin(found: string): boolean {
  return /^[ -~]*:[ -~]+$/.test(Buffer.from(found, "base64").toString("latin1"));
}

function patternRule({
  name,
  clues,
  pattern,
  doubt,
}: Pick<SecretPattern, "name" | "clues" | "pattern" | "doubt">): SecretRule {
  const accept = doubt === undefined ? () => true : ACCEPTS[doubt];
  const find = (text: string): Range[] =>
    Array.from(text.matchAll(pattern), (match): Range => {
      const kept = match.groups?.["keep"]?.length ?? 0;
      return [match.index + kept, match.index + match[0].length];
    }).filter(([start, end]) => accept(text.slice(start, end)));
  return { name, clues: clues.split(" "), find };
}

function shapeRule({ name, marks, rest }: SecretShape): SecretRule {
  const all = marks.split(" ").map(literal).join("|");
  const isMark = /^\w/.test(marks) ? "(?<![A-Za-z0-9])" : "";
  const pattern = new RegExp(`${isMark}(?:${all})(?:${rest})(?![A-Za-z0-9])`, "g");
  return patternRule({ name, clues: marks.toLowerCase(), pattern, doubt: undefined });
}

/** What two of them find in one place is named after the first. */
export const SECRET_RULES: readonly SecretRule[] = [
  { name: "private-key", clues: ["private key"], find: findPrivateKeys },
  { name: "kubernetes-secret", clues: ["secret"], find: findKubernetesSecrets },
  ...SECRET_PATTERNS.map(patternRule),
  ...SECRET_SHAPES.map(shapeRule),
  { name: "named", clues: ["=="], find: findCompared },
  { name: "named", clues: [""], find: findAssignments },
];

/** Longest first, and ahead of each place, so that no clue hides another: whoever sees "sk-ant-" has seen "sk-". */
const CLUES = new RegExp(
  `(?=(${SECRET_RULES.flatMap(({ clues }) => clues)
    .filter((clue) => clue.length > 1)
    .toSorted((a, b) => b.length - a.length)
    .map(literal)
    .join("|")}))`,
  "g",
);

/** The rules that can find something in the text. Asking for all clues at once is five times faster than for each. */
export function rulesFor(text: string): SecretRule[] {
  const seen = new Set(Array.from(text.toLowerCase().matchAll(CLUES), (match) => match[1] ?? ""));
  const words = Array.from(seen);
  return SECRET_RULES.filter(({ clues }) =>
    clues.some((clue) => clue.length < 2 || words.some((word) => word.includes(clue))),
  );
}
