import { numberOfCall } from "./entry-ids.ts";
import { callsOf } from "./family.ts";
import { HOUSEKEEPING } from "./housekeeping.ts";
import type { Outcome } from "../core/entry.ts";
import type { Run } from "./state.ts";
import type { Call } from "./call.ts";
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

/** What is wrong with an answer, in words for the model; and the answer as people get it if it stays so. */
export interface Checked {
  problems: string[];
  marked: string;
}

const GRADE = /\b(?:CONFIRMED|LIKELY|INCONCLUSIVE)\b/;
/** A grade with the marks around it, as it begins a conclusion. */
const GRADED = /[*_]*\b(?:CONFIRMED|LIKELY)\b[*_]*\s*[:,–—-]?\s*/;

const DONE =
  "restarted|rebooted|killed|terminated|stopped|started|scaled|deleted|removed|rolled back|reverted|deployed|redeployed|drained|cordoned|patched|applied|changed|modified|updated|fixed|resolved|cleared|cleaned up|enabled|disabled";
/** "I have restarted …", and a sentence that begins with what was done. */
const ACTED = new RegExp(
  `(?<!\\b(?:if|unless|until)\\s)\\b(?:I|we)(?:['’]ve)?(?:\\s+(?:have|just|then|now|also|already|successfully))*\\s+(?:${DONE})\\b|(?:^|:\\s+)(?:${DONE})\\s+(?:the|it|its|all|both|\`)`,
  "i",
);
/** A claim that something works, which a call that failed cannot show. */
const WORKS =
  /\b(?:is|are|was|were)\s+(?:now\s+|all\s+|back\s+|again\s+)*(?:well|healthy|fine|ok(?:ay)?|up|running|back|reachable|available|working|restored|fixed|resolved)\b|\b(?:works|succeeded|successful(?:ly)?|recovered)\b/i;
/** About what people decided: the journal shows that, no call does. */
const DECIDED =
  /\b(?:denied|declined|rejected|refused|expired|cancell?ed|withdrawn|withdrew|blocked|not approved|no approval|nobody (?:approved|decided|answered))\b/i;
const SOCIAL =
  /^(?:thanks|thank you|you(?:['’]re| are) (?:very )?welcome|welcome|hello|hi|hey|good (?:morning|afternoon|evening)|ok(?:ay)?|sure|understood|got it|noted|will do|great|fine|no problem|no worries|sorry|bye|cheers|alright|agreed|happy to)\b/i;
const MAX_CHAT_WORDS = 15;
const MAX_DECISION_WORDS = 60;

/**
 * Holds an answer against the journal: each reference names a call that was made, in this run or an earlier one, a claim
 * of certainty has one, and a claim of having acted has the action. What was denied or blocked shows nothing, what
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
  const untrue = sentences.filter((sentence) => !isTrueAct(sentence, run, evidence, backing));
  const head = firstParagraph(text);
  const grade = gradeIn(text);
  const isSure = grade !== undefined && grade !== "INCONCLUSIVE";
  const isDecision = DECIDED.test(head) && hasUndone(run);
  const unfounded = isSure && backing.length === 0 && !isDecision;
  const isFailed = backing.every((shown) => shown !== "ok" && shown !== "changed");
  // What failed can show a fault; what nobody knows the outcome of shows nothing.
  const isUnknown = backing.every((shown) => shown === "unknown");
  const failedOnly = isSure && backing.length > 0 && isFailed && (isUnknown || WORKS.test(head));
  const ungraded = grade === undefined && needsGrade(text, run, cited.length > 0);
  const isActless = acts(run).length === 0;
  const others = otherFigures(text, modelRun.figures);
  const problems = [
    ...[...wrong].map((number) => `[T${number}] names no call that ran.`),
    ...(ungraded ? ["The first paragraph has none of CONFIRMED, LIKELY, INCONCLUSIVE."] : []),
    ...(unfounded ? [`${grade} without a reference such as [T1] to a call that shows it.`] : []),
    ...(failedOnly ? [`${grade} with references only to calls that failed or are unknown.`] : []),
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

function acts(run: Run): Call[] {
  return callsOf(run).filter(({ started }) => started !== undefined && started.effect !== "read");
}

const IS_UNDONE: Readonly<Record<Outcome, boolean>> = {
  ok: false,
  error: false,
  denied: true,
  expired: true,
  cancelled: true,
  unknown: false,
  blocked: true,
};

/** A call that people or policy did not let happen. */
function hasUndone(run: Run): boolean {
  return callsOf(run).some(({ finished }) => finished && IS_UNDONE[finished.outcome]);
}

/** True also for a sentence that claims no act. */
function isTrueAct(
  { text }: Sentence,
  run: Run,
  evidence: ModelRun["evidence"],
  backing: readonly string[],
): boolean {
  if (!ACTED.test(text.replaceAll("**", ""))) return true;
  const numbers = numbersIn(text);
  if (numbers.some((number) => hasChanged(evidence.get(number)))) return true;
  const done = acts(run);
  const failed = done.filter(({ finished }) => finished?.outcome !== "ok");
  const citesFailed = failed.some(({ call }) => numbers.includes(numberOfCall(call)));
  if (citesFailed) return false;
  return failed.length < done.length || (numbers.length === 0 && backing.some(hasChanged));
}

function hasChanged(effect: string | undefined): boolean {
  return effect === "changed" || effect === "unmet";
}

/** Findings do; greetings, questions back and words about what people decided do not. */
function needsGrade(text: string, run: Run, cites: boolean): boolean {
  const investigated = [...run.calls.values()].some(
    ({ call, started, tool }) =>
      started !== undefined && !HOUSEKEEPING.test(tool) && !isCheck(run, call),
  );
  if (!investigated || cites) return investigated;
  const said = text.trim();
  const words = said.split(/\s+/, MAX_DECISION_WORDS + 1).length;
  const isChat = words <= MAX_CHAT_WORDS && (SOCIAL.test(said) || said.endsWith("?"));
  const isDecision = words <= MAX_DECISION_WORDS && DECIDED.test(said) && hasUndone(run);
  return !isChat && !isDecision;
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
