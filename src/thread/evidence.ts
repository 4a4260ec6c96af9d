import {
  actsIn,
  claimsAct,
  GRADED,
  isOnDecision,
  isTrueAct,
  namesUndone,
  quotesFailure,
} from "./claims.ts";
import { HOUSEKEEPING } from "./housekeeping.ts";
import type { Run } from "./state.ts";
import { isCheck } from "./checking.ts";
import {
  digitsIn,
  numbersIn,
  REFERENCE,
  removeReferences,
  type Sentence,
  sentencesIn,
} from "./sentences.ts";
import type { ModelRun } from "./model-run.ts";
import { otherFigures } from "./other-figures.ts";
import * as phrases from "./phrases.ts";
import { toneOf } from "./tone.ts";

/** What is wrong with an answer, in words for the model; and the answer as people get it if it stays so. */
export interface Checked {
  problems: string[];
  marked: string;
}

const GRADE = /\b(?:CONFIRMED|LIKELY|INCONCLUSIVE)\b/;
const MAX_CHAT_WORDS = 15;
const MAX_DECISION_WORDS = 60;

/**
 * Holds an answer against the journal: each reference names a call that was made, in this run or an earlier one, a claim
 * of certainty has one, and a claim of having acted (DONE) has the action. What was denied or blocked shows nothing, what
 * failed or is unknown shows no success, and beside a reference to statistics stand only their numbers. Only what is wrong is marked: the rest stays as it was written.
 */
export function checkAnswer(text: string, run: Run, modelRun: ModelRun): Checked {
  const { untoldCalls } = modelRun;
  const evidence = untoldCalls.size === 0 ? modelRun.evidence : toldOf(modelRun);
  const cited = numbersIn(text);
  const wrong = new Set(cited.filter((number) => !evidence.has(number)));
  const backing = cited
    .flatMap((number) => evidence.get(number) ?? [])
    .filter((shown) => shown !== "remembered");
  const sentences = sentencesIn(text);
  const claims = sentences.filter(claimsAct);
  const untrue = claims.filter((sentence) => !isTrueAct(sentence, run, evidence, backing));
  const head = firstParagraph(text);
  const grade = gradeIn(text);
  const isSure = grade !== undefined && grade !== "INCONCLUSIVE";
  const unfounded = isSure && backing.length === 0 && !namesUndone(head, run);
  const isFailed = backing.every((shown) => shown !== "ok" && shown !== "changed");
  // What failed can show a fault, by what it said; what nobody knows the outcome of shows nothing.
  const isUnknown = backing.every((shown) => shown === "unknown");
  const failedOnly =
    isSure && backing.length > 0 && isFailed && (isUnknown || !quotesFailure(text, cited, run));
  const isAct = claims.some(({ start }) => start < text.indexOf(head) + head.length);
  const ungraded = grade === undefined && !isAct && needsGrade(text, run, modelRun);
  const isActless = actsIn(run).length === 0;
  const others = otherFigures(text, modelRun.figures);
  const problems = [
    ...[...wrong].map((number) => `[T${number}] names no call that ran.`),
    ...(ungraded ? ["The first paragraph has none of CONFIRMED, LIKELY, INCONCLUSIVE."] : []),
    ...(unfounded ? [`${grade} without a reference such as [T1] to a call that shows it.`] : []),
    ...(failedOnly
      ? [
          `${grade} with references only to calls that failed or are unknown. What failed shows only what it says: quote that, or look another way.`,
        ]
      : []),
    ...(others.length > 0
      ? [
          `It says ${others.map((figure) => JSON.stringify(figure)).join(", ")} with a reference to statistics that do not say so. Use their numbers as they are, never your own.`,
        ]
      : []),
    ...(untrue.length === 0
      ? []
      : [
          isActless
            ? "It says that something was changed, but this run changed nothing."
            : "It says that something was changed, but no action of this run is known to have succeeded.",
        ]),
  ];
  const why = isActless ? phrases.doubts.nothingChanged : phrases.doubts.nothingWorked;
  const unsure = unfounded
    ? phrases.doubts.noCheck(grade)
    : failedOnly
      ? phrases.doubts.allFailed(grade)
      : undefined;
  const notes = [
    ...(wrong.size > 0 ? [phrases.doubts.neverRan] : []),
    ...(ungraded ? [phrases.doubts.ungraded] : []),
    ...(others.length > 0 ? [phrases.doubts.otherFigures(others)] : []),
  ];
  const marks = { wrong, untrue, why, unsure, notes };
  return { problems, marked: mark(text, head, marks) };
}

/** What it was told: another run's calls that were made beside it are not among them. */
function toldOf({ evidence, untoldCalls }: ModelRun): ModelRun["evidence"] {
  return new Map([...evidence].filter(([number]) => !untoldCalls.has(number)));
}

/** The grade that the answer's first paragraph gives itself: the same word in any language. */
export function gradeIn(text: string): string | undefined {
  return GRADE.exec(firstParagraph(text))?.[0];
}

/** The answer with a warning right behind its conclusion. */
export function withWarning(text: string, warning: string): string {
  const head = firstParagraph(text);
  const end = text.indexOf(head) + head.length;
  return `${text.slice(0, end)}\n\n> ⚠ ${warning}${text.slice(end)}`;
}

function firstParagraph(text: string): string {
  return text.trim().split(/\n\s*\n/, 1)[0] ?? "";
}

/** Findings do; small talk, questions back and words about what people decided do not. */
function needsGrade(text: string, run: Run, { told }: ModelRun): boolean {
  const own = [...run.calls.values()];
  const investigated = own.some(
    ({ call, started, tool }) =>
      started !== undefined && !HOUSEKEEPING.test(tool) && !isCheck(run, call),
  );
  if (!investigated || numbersIn(text).length > 0) return investigated;
  const said = text.trim();
  const words = wordsIn(said);
  const last = Math.max(...own.map(({ finished }) => finished?.seq ?? 0));
  // What somebody wrote after all that was looked at may be answered by as little as a word.
  const isReply = (told.at(-1)?.seq ?? 0) > last;
  const isChat = words <= MAX_CHAT_WORDS && (isReply || /[?？؟]$/.test(said) || isSmallWord(said));
  return !isChat && !(words <= MAX_DECISION_WORDS && isOnDecision(said, run));
}

const WORDS = new Intl.Segmenter(undefined, { granularity: "word" });
const MAX_COUNTED = 1_000;

/** Also where nothing stands between words. A text that is too long has too many. */
function wordsIn(text: string): number {
  if (text.length > MAX_COUNTED) return Infinity;
  return [...WORDS.segment(text)].filter(({ isWordLike }) => isWordLike).length;
}

function isSmallWord(text: string): boolean {
  const tone = toneOf(text);
  return tone === "chatter" || tone === "thanks" || tone === "ack";
}

interface Marks {
  wrong: ReadonlySet<number>;
  untrue: readonly Sentence[];
  why: string;
  unsure: string | undefined;
  notes: readonly string[];
}

/**
 * What is untrue of the conclusion is taken out of it and stands before it, struck through; further down it is struck
 * through where it stands. A conclusion that is not shown says so in place of its grade.
 */
function mark(text: string, head: string, { wrong, untrue, why, unsure, notes }: Marks): string {
  const headEnd = text.indexOf(head) + head.length;
  const inHead = untrue.filter(({ start }) => start < headEnd);
  let body = text.slice(headEnd);
  for (const { start, end } of untrue.toReversed()) {
    if (start < headEnd) continue;
    const at = start - headEnd;
    body = `${body.slice(0, at)}${struck(body.slice(at, end - headEnd))}${body.slice(end - headEnd)}`;
  }
  let rest = text.slice(0, headEnd);
  for (const { start, end } of inHead.toReversed()) rest = rest.slice(0, start) + rest.slice(end);
  rest = rest.trim();
  const isStill = unsure !== undefined && GRADED.test(rest);
  if (isStill) rest = `⚠ Not verified: ${rest.replace(GRADED, "")}`;
  const claims = inHead.map((sentence) => struck(claimOf(sentence, wrong))).join(" ");
  const first = claims === "" ? "" : `⚠ Not verified: ${claims} ${why}`;
  const below = [
    ...(isStill ? [unsure] : []),
    ...notes,
    ...(inHead.length < untrue.length ? [why] : []),
  ];
  const shown = [first, /[\p{L}\p{N}]/u.test(rest) ? rest : ""].filter((part) => part !== "");
  // Right behind the conclusion: further down nobody might read it.
  const warned = below.length === 0 ? [] : [below.map((note) => `> ⚠ ${note}`).join("\n")];
  const whole = removeReferences([...shown, ...warned].join("\n\n") + body, REFERENCE, (found) =>
    digitsIn(found).filter((number) => !wrong.has(number)),
  );
  return warned.length === 0 ? whole : whole.trim();
}

/** Without its grade and the marks that would end in the middle of it. */
function claimOf({ text }: Sentence, wrong: ReadonlySet<number>): string {
  const bare = text.replace(GRADED, "").replaceAll(/\*\*|__|~~/g, "");
  return removeReferences(bare, REFERENCE, (found) =>
    digitsIn(found).filter((number) => !wrong.has(number)),
  ).trim();
}

function struck(text: string): string {
  return `~~${text.replaceAll(/\*\*|__|~~/g, "")}~~`;
}
