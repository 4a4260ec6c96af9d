import type { Run } from "../journal/thread.ts";
import type { Talk } from "./talk.ts";

/** What is wrong with an answer, in words for the model; and the answer as people get it if it stays so. */
export interface Checked {
  problems: string[];
  marked: string;
}

const GRADE = /\b(?:CONFIRMED|LIKELY|INCONCLUSIVE)\b/;
/** `[T3]`, also several in one: `[T1, T4]`. */
const REFERENCE = /\[T\d+(?:\s*,\s*T?\d+)*\]/g;

const DONE =
  "restarted|rebooted|killed|terminated|stopped|started|scaled|deleted|removed|rolled back|reverted|deployed|redeployed|drained|cordoned|patched|applied|changed|modified|updated|fixed|resolved|cleared|cleaned up|enabled|disabled";
/** "I have restarted …", and a sentence that begins with what was done. */
const ACTED = new RegExp(
  `\\b(?:I|we)(?:['’]ve)?(?:\\s+(?:have|just|then|now|also|already|successfully))*\\s+(?:${DONE})\\b|(?:^|[.!?:]\\s+|\\n[^\\w\\n]*)(?:${DONE})\\s+(?:the|it|its|all|both|\`)`,
  "i",
);

/**
 * Holds an answer against the journal: each reference names a call that was carried out, in this run or an earlier one, a
 * claim of certainty has one, and a claim of having acted has the action. What was denied or blocked shows nothing.
 */
export function checkAnswer(text: string, run: Run, { evidence }: Talk): Checked {
  const cited = new Set([...text.matchAll(REFERENCE)].flatMap(([found]) => numbersIn(found)));
  const wrong = [...cited].filter((number) => !evidence.has(number));
  const backed = wrong.length < cited.size;
  const investigated = [...run.calls.values()].some((call) => call.started !== undefined);
  const grade = GRADE.exec(firstParagraph(text))?.[0];
  const unfounded = grade !== undefined && grade !== "INCONCLUSIVE" && !backed;
  const acted = [...cited].some((number) => evidence.get(number) === true)
    ? undefined
    : actedProblem(text, run);
  const problems = [
    ...wrong.map((number) => `[T${number}] is not a call that was carried out.`),
    ...(investigated && grade === undefined
      ? ["The first paragraph has none of CONFIRMED, LIKELY, INCONCLUSIVE."]
      : []),
    ...(unfounded ? [`${grade} without a reference such as [T1] to a call that shows it.`] : []),
    ...(acted === undefined ? [] : [acted.problem]),
  ];
  return {
    problems,
    marked: mark(text, { wrong, unfounded, grade, investigated, acted: acted?.mark }),
  };
}

function numbersIn(reference: string): number[] {
  return [...reference.matchAll(/\d+/g)].map(([digits]) => Number(digits));
}

function firstParagraph(text: string): string {
  return text.trim().split(/\n\s*\n/, 1)[0] ?? "";
}

function actedProblem(text: string, { calls }: Run): { problem: string; mark: string } | undefined {
  if (!ACTED.test(text.replaceAll("**", ""))) return undefined;
  const acts = [...calls.values()].filter(
    ({ started }) => started !== undefined && started.effect !== "read",
  );
  if (acts.some((call) => call.finished?.outcome === "ok")) return undefined;
  if (acts.length === 0) {
    return {
      problem: "It says that something was changed, but this run changed nothing.",
      mark: "no action was carried out in this run",
    };
  }
  return {
    problem:
      "It says that something was changed, but no action of this run is known to have succeeded.",
    mark: "no action of this run is known to have succeeded",
  };
}

interface Marks {
  wrong: number[];
  unfounded: boolean;
  grade: string | undefined;
  investigated: boolean;
  acted: string | undefined;
}

function mark(text: string, { wrong, unfounded, grade, investigated, acted }: Marks): string {
  let marked = text.replaceAll(REFERENCE, (found) => {
    const numbers = numbersIn(found);
    const good = numbers.filter((number) => !wrong.includes(number));
    return good.map((number) => `[T${number}]`).join("");
  });
  if (unfounded && grade !== undefined) marked = marked.replace(GRADE, "INCONCLUSIVE");
  const notes = [
    ...(wrong.length > 0
      ? [`${wrong.length} reference(s) to calls that were not carried out are removed`]
      : []),
    ...(unfounded ? [`it was graded ${grade} without evidence`] : []),
    ...(investigated && grade === undefined ? ["it is not graded; take it as INCONCLUSIVE"] : []),
    ...(acted === undefined ? [] : [acted]),
  ];
  return notes.length === 0
    ? marked
    : `${marked.trimEnd()}\n\n> Checked by the program: ${notes.join("; ")}.`;
}
