import { STAY_SILENT } from "../core/tool-spec.ts";
import type { Draft, Entry } from "../core/entry.ts";
import { gateDrafts, reportOf, runEndedDraft, tooLongDraft } from "./drafts-runs.ts";
import { needOf } from "./filling.ts";
import { afterCalls, beforeAnswer, markedText } from "./gates/gates.ts";
import { limitReached, mayAnswerAgain } from "./gates/limit.ts";
import type { ModelRun } from "./model-run.ts";
import * as phrases from "./phrases.ts";
import type { Run } from "./state.ts";

/** What keeps a model's run going or ends it. The texts of gates (`gates/`) are the model's to read. */

type Written = readonly Draft<"gate">[] | readonly [Draft<"run_ended">];

export type NextTurn =
  | { do: "think" }
  /** What the model is told is condensed before it is asked on. */
  | { do: "condense" }
  /** `silent`: the model gave no answer to the run, and why. */
  | { do: "write"; drafts: Written; silent?: { run: Run; why: string } }
  | { do: "hush"; run: Run };

/**
 * Decides from the fold alone. Undefined while a call has no result: the model is asked again only when all of them have.
 */
export function nextTurn(run: Run, modelRun: ModelRun): NextTurn | undefined {
  if (isHushed(run, modelRun)) return { do: "hush", run };
  if (run.open.size > 0) return undefined;
  const drafts = draftsFor(run, modelRun);
  const [draft] = drafts;
  if (draft === undefined) {
    const need = needOf(modelRun.filling);
    if (need === "give_up") return { do: "write", drafts: [tooLongDraft(run, modelRun.filling)] };
    return { do: need ?? "think" };
  }
  const why = draft.kind === "run_ended" ? whySilent(modelRun) : undefined;
  return { do: "write", drafts, ...(why !== undefined && { silent: { run, why } }) };
}

/** Why the run's last turn is no answer: it was refused, or there is nothing in it. */
export function whySilent({ last, toolsOff }: ModelRun): string | undefined {
  if (last === undefined || toolsOff !== undefined) return undefined;
  const { stop } = last;
  if (stop === "refusal" || stop === "content_filter") return phrases.runEndings[stop];
  if (stop === "malformed_call") return phrases.runEndings.malformed;
  return wordsIn(last) === "" ? phrases.runEndings.empty : undefined;
}

function wordsIn({ content }: Entry<"assistant">): string {
  return content
    .flatMap((block) => (block.kind === "text" ? [block.text] : []))
    .join("\n\n")
    .trim();
}

/** The model has nothing to say, where nobody surely asked it and it has looked at nothing. */
function isHushed({ stopped, calls }: Run, { terms, steps, turn, unseen }: ModelRun): boolean {
  const mayBe = terms.unsure === true && steps === 1 && unseen.length === 0 && !stopped;
  const isUntouched = [...calls.values()].every(
    ({ started, finished, action, asked }) => !(started ?? finished ?? action ?? asked),
  );
  return mayBe && isUntouched && turn.some(({ tool }) => tool === STAY_SILENT);
}

/** None: the model is asked on. */
function draftsFor(run: Run, modelRun: ModelRun): Written {
  const { last, turn, toolsOff } = modelRun;
  // A run of one step has to answer in it.
  if (last === undefined) return guard(run, modelRun);
  const wordAt = Math.max(modelRun.gates.at(-1)?.seq ?? 0, modelRun.resumedAt);
  if (wordAt > last.seen) return [];
  const wasToldToAnswer = toolsOff !== undefined && toolsOff.seq <= last.seen;
  const isAnswer = wasToldToAnswer && last.content.some(({ kind }) => kind === "text");
  if (isAnswer || (turn.length === 0 && (last.stop !== "pause" || wasToldToAnswer)))
    return judgeAnswer(run, modelRun, last);
  // It called tools all the same: what it found is reported without it.
  if (wasToldToAnswer)
    return [runEndedDraft(run, "wrapped_up", reportOf(run, phrases.runEndings.noAnswer))];
  return guard(run, modelRun);
}

/** What keeps a run from going on for ever, or takes it back to its way. */
function guard(run: Run, modelRun: ModelRun): Written {
  const words = afterCalls(run, modelRun);
  for (const { ends } of words)
    if (ends !== undefined) return [runEndedDraft(run, "failed", reportOf(run, ends))];
  return gateDrafts(
    run,
    modelRun,
    words.flatMap((word) => (word.ends === undefined ? [word] : [])),
  );
}

/** The model has said its last word: it passes, or is sent back once. */
function judgeAnswer(run: Run, modelRun: ModelRun, last: Entry<"assistant">): Written {
  const text = wordsIn(last);
  const failed = (why: string): Written => [runEndedDraft(run, "failed", reportOf(run, why))];
  if (last.stop === "refusal" || last.stop === "content_filter") {
    const why = phrases.runEndings[last.stop];
    return failed(text === "" ? why : `${why}\n\n${text}`);
  }
  const answer = { text, last, run, modelRun };
  const back = mayAnswerAgain(modelRun) ? beforeAnswer(answer) : [];
  if (back.length > 0) return gateDrafts(run, modelRun, back);
  if (last.stop === "malformed_call") return failed(phrases.runEndings.malformed);
  if (text === "") return failed(phrases.runEndings.empty);
  const marked = markedText(answer);
  const isCut = last.stop === "max_tokens";
  const ending = isCut ? `${marked}\n\n${phrases.runEndings.cutOff}` : marked;
  const off = modelRun.toolsOff?.gate;
  if (off !== "limit" && off !== "stuck") return [runEndedDraft(run, "completed", ending)];
  const limit = off === "limit" ? (limitReached(modelRun) ?? "steps") : undefined;
  const { stopped } = phrases.runEndings;
  return [
    runEndedDraft(run, "wrapped_up", `${ending}\n\n${stopped(limit)}${phrases.goOn(run, " ")}`),
  ];
}
