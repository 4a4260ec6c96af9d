import type { Json, Outcome } from "../core/entry.ts";
import { argsOf, type Call } from "./call.ts";
import { numberOfCall } from "./entry-ids.ts";
import { callsOf } from "./family.ts";
import type { ModelRun } from "./model-run.ts";
import { numbersIn, type Sentence } from "./sentences.ts";
import type { Run } from "./state.ts";

/**
 * What an answer claims, by its marks and by what stands in the journal, never by the words of a language: the grades, DONE before
 * what was changed, references, and what it quotes.
 */

/** A grade with the marks around it, as it begins a conclusion. */
export const GRADED = /[*_]*\b(?:CONFIRMED|LIKELY)\b[*_]*\s*[:：,–—-]?\s*/;
const ANY_GRADE = /^[*_]*(?:CONFIRMED|LIKELY|INCONCLUSIVE)\b[*_]*\s*[:：,–—-]?\s*/;
/** What begins a sentence that says what was changed; its references may stand before the colon. */
const DONE = /^[*_]*DONE\b[*_]*\s*(?:\[T\d+(?:\s*,\s*T?\d+)*\]\s*)*[*_]*\s*[:：,–—-]/;

/** The sentence says that something was changed. */
export function claimsAct({ text }: Pick<Sentence, "text">): boolean {
  return DONE.test(text.replace(ANY_GRADE, ""));
}

/** The calls of the run that were to change something and were made. */
export function actsIn(run: Run): Call[] {
  return callsOf(run).filter(({ started }) => started !== undefined && started.effect !== "read");
}

/** A call that did what the sentence says was done. */
export function isTrueAct(
  { text }: Pick<Sentence, "text">,
  run: Run,
  evidence: ModelRun["evidence"],
  backing: readonly string[],
): boolean {
  const numbers = numbersIn(text);
  if (numbers.some((number) => hasChanged(evidence.get(number)))) return true;
  const done = actsIn(run);
  const failed = done.filter(({ finished }) => finished?.outcome !== "ok");
  const citesFailed = failed.some(({ call }) => numbers.includes(numberOfCall(call)));
  if (citesFailed) return false;
  return failed.length < done.length || (numbers.length === 0 && backing.some(hasChanged));
}

function hasChanged(effect: string | undefined): boolean {
  return effect === "changed" || effect === "unmet";
}

/**
 * The answer says what the calls that failed said. That is how a failure shows a fault; what it would show of a success nobody can
 * quote. Of a call of an earlier run, and of a long run's later ones, not all of the text is left to hold it against.
 */
export function quotesFailure(text: string, cited: readonly number[], run: Run): boolean {
  const own = callsOf(run).filter(({ call }) => cited.includes(numberOfCall(call)));
  if (own.length === 0) return true;
  const said = spaced(text);
  return own.some((call) => {
    const { text: told = "", findings = [], isShortened } = call.finished ?? {};
    if (isShortened === true) return true;
    return (
      findings.length > 0 || piecesOf(told, namesIn(call)).some((piece) => said.includes(piece))
    );
  });
}

/** Two words, or three, that together are shorter than this stand in any text. */
const MIN_LETTERS = { 2: 8, 3: 10 } as const;
const MAX_QUOTED = 20_000;

/** What no text says by chance: codes, and words that stand side by side and name nothing that was asked for. */
function piecesOf(told: string, names: ReadonlySet<string>): string[] {
  const words = spaced(told.slice(0, MAX_QUOTED)).trim().split(" ");
  const rowsOf = (length: 2 | 3) =>
    words
      .map((_, at) => words.slice(at, at + length))
      .filter(
        (row) =>
          row.length === length &&
          row.join("").length >= MIN_LETTERS[length] &&
          row.every((word) => !names.has(word)),
      );
  const codes = words.filter((word) => /^\d{3}$|^e[a-z]{5,}$/.test(word) && !names.has(word));
  const pieces = [...rowsOf(2), ...rowsOf(3), ...codes.map((code) => [code])];
  return pieces.map((piece) => ` ${piece.join(" ")} `);
}

/** Its words in lower case, a space around each. */
function spaced(text: string): string {
  return ` ${text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, " ")} `;
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

/** What people or policy did not let happen; a gate's refusal is nobody's decision. */
function isUndone({ finished }: Call): boolean {
  return finished !== undefined && finished.gate === undefined && IS_UNDONE[finished.outcome];
}

/** The text follows right upon what people or policy did not let happen, or names it. */
export function isOnDecision(text: string, run: Run): boolean {
  const ended = callsOf(run).filter(({ finished }) => finished !== undefined);
  const [last] = ended.toSorted((a, b) => (b.finished?.seq ?? 0) - (a.finished?.seq ?? 0));
  return (last !== undefined && isUndone(last)) || namesUndone(text, run);
}

/** The text names what people or policy did not let happen: its action, its tool, or what it was to be done to. */
export function namesUndone(text: string, run: Run): boolean {
  const said = spaced(text);
  return callsOf(run)
    .filter(isUndone)
    .some((call) => {
      const names = [call.tool, call.action?.action ?? "", ...namesIn(call)];
      return names.some((name) => name.length > 1 && said.includes(spaced(name)));
    });
}

function namesIn(call: Call): Set<string> {
  return new Set(Object.values(argsOf(call)).flatMap(textsIn));
}

function textsIn(value: Json): string[] {
  if (typeof value === "string") return spaced(value).trim().split(" ");
  if (typeof value === "number") return [`${value}`];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
