import { STAY_SILENT, USE_TOOL } from "../core/tool-spec.ts";
import { totalTokens } from "../core/block.ts";
import type { Draft, Entry } from "../core/entry.ts";
import type { RunTerms } from "../core/run-terms.ts";
import { gateDraft, reportOf, runEndedDraft } from "./drafts-runs.ts";
import { isCheck } from "./checking.ts";
import { checkAnswer } from "./evidence.ts";
import {
  callKey,
  type CallProblem,
  type Circle,
  MAX_CALLS_PER_TURN,
  type ModelRun,
} from "./model-run.ts";
import { whyNarrowed } from "./narrowed.ts";
import * as phrases from "./phrases.ts";
import type { Run } from "./state.ts";
import type { Call } from "./call.ts";

/** What keeps a model's run going or ends it. The texts of gates are the model's to read, as is `whyNotLooked`. */

type Written = Draft<"gate"> | Draft<"run_ended">;

export type NextTurn =
  | { do: "think" }
  /** `silent`: the model gave no answer to the run, and why. */
  | { do: "write"; draft: Written; silent?: { run: Run; why: string } }
  | { do: "hush"; run: Run };

/**
 * Decides from the fold alone. Undefined while a call has no result: the model is asked again only when all of them have.
 */
export function nextTurn(run: Run, modelRun: ModelRun): NextTurn | undefined {
  if (isHushed(run, modelRun)) return { do: "hush", run };
  if (run.open.size > 0) return undefined;
  const draft = draftFor(run, modelRun);
  if (draft === undefined) return { do: "think" };
  const why = draft.kind === "run_ended" ? whySilent(modelRun) : undefined;
  return { do: "write", draft, ...(why !== undefined && { silent: { run, why } }) };
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

function draftFor(run: Run, modelRun: ModelRun): Written | undefined {
  const { last, turn, toolsOff } = modelRun;
  // A run of one step has to answer in it.
  if (last === undefined) return guard(run, modelRun);
  const gateUnseen = (modelRun.gates.at(-1)?.seq ?? 0) > last.seen;
  if (gateUnseen) return undefined;
  const wasToldToAnswer = toolsOff !== undefined && toolsOff.seq <= last.seen;
  const isAnswer = wasToldToAnswer && last.content.some(({ kind }) => kind === "text");
  if (isAnswer || (turn.length === 0 && (last.stop !== "pause" || wasToldToAnswer)))
    return judgeAnswer(run, modelRun, last);
  // It called tools all the same: what it found is reported without it.
  if (wasToldToAnswer)
    return runEndedDraft(run, "wrapped_up", reportOf(run, phrases.runEndings.noAnswer));
  return guard(run, modelRun);
}

/** Denials in a row after which the model has to answer instead of asking for more (CORE case 13). */
const MAX_DENIALS = 2;

/** What keeps a run from going on for ever: its limits, circles, people who say no. */
function guard(run: Run, modelRun: ModelRun): Draft<"gate"> | undefined {
  if (modelRun.toolsOff !== undefined) return undefined;
  const limit = limitReached(modelRun);
  if (limit !== undefined) {
    const text = `This run has reached its limit (${limit}). Answer now with what you found and what is still open; people can tell you to go on.`;
    return gateDraft(run, modelRun, "limit", text, true);
  }
  if (modelRun.denials >= MAX_DENIALS) {
    const text = `People denied ${modelRun.denials} calls in a row. Ask for no more; answer with what is known and what you would have done.`;
    return gateDraft(run, modelRun, "denied", text, true);
  }
  const { found } = modelRun.loop;
  if (found === undefined) return undefined;
  const again = modelRun.gates.some(({ gate }) => gate === "stuck");
  const text = again
    ? `You are going in circles again: ${circleText(found)}. Answer now with what you found and what is still open.`
    : `You are going in circles: ${circleText(found)}. Take another way, or answer with what you have.`;
  return gateDraft(run, modelRun, "stuck", text, again);
}

function circleText({ kind, tool, calls }: Circle): string {
  switch (kind) {
    case "same":
      return `the same call of ${tool} ${calls} times in a row`;
    case "two_in_turn":
      return "the same two calls in turn, with the same results";
    case "nothing_new":
      return `${calls} calls of ${tool} that brought nothing new`;
  }
}

function limitReached({ terms, steps, usage, workMs, last }: ModelRun): string | undefined {
  const { budget } = terms;
  if (steps >= budget.steps - 1) return `${budget.steps} steps`;
  const next = last === undefined ? 0 : totalTokens(last.usage);
  if (totalTokens(usage) + 2 * next > budget.tokens) return `${budget.tokens} tokens`;
  if (workMs >= budget.minutes * 60_000) return `${budget.minutes} minutes of work`;
  return undefined;
}

/** The model has said its last word: it passes, or is sent back once. */
function judgeAnswer(run: Run, modelRun: ModelRun, last: Entry<"assistant">): Written {
  const text = wordsIn(last);
  const failed = (why: string) => runEndedDraft(run, "failed", reportOf(run, why));
  if (last.stop === "refusal" || last.stop === "content_filter") {
    const why = phrases.runEndings[last.stop];
    return failed(text === "" ? why : `${why}\n\n${text}`);
  }
  const { budget } = modelRun.terms;
  const mayAskAgain =
    modelRun.steps < budget.steps &&
    totalTokens(modelRun.usage) + totalTokens(last.usage) <= budget.tokens &&
    modelRun.workMs < budget.minutes * 60_000;
  const sentBack = (gate: Entry<"gate">["gate"]) =>
    !mayAskAgain || modelRun.gates.some((each) => each.gate === gate);
  const isCut = last.stop === "max_tokens";
  const isMalformed = last.stop === "malformed_call";
  if ((isCut || isMalformed || text === "") && !sentBack("cut")) {
    const why = isCut
      ? "Your answer was cut off at the output limit. Write it again, shorter."
      : isMalformed
        ? "Your call was refused: it is not a valid call of a listed tool. Call it again with arguments that fit its schema, or answer."
        : "Your turn was empty. Write the answer.";
    return gateDraft(run, modelRun, "cut", why);
  }
  if (isMalformed) return failed(phrases.runEndings.malformed);
  if (text === "") return failed(phrases.runEndings.empty);
  const { problems, marked } = checkAnswer(text, run, modelRun);
  if (problems.length > 0 && !sentBack("evidence")) {
    const list = problems.map((problem) => `- ${problem}`).join("\n");
    const why = `Your answer was not shown yet:\n${list}\nWrite the whole answer again, corrected.`;
    return gateDraft(run, modelRun, "evidence", why);
  }
  const ending = isCut ? `${marked}\n\n${phrases.runEndings.cutOff}` : marked;
  const off = modelRun.toolsOff?.gate;
  if (off !== "limit" && off !== "stuck") return runEndedDraft(run, "completed", ending);
  const limit = off === "limit" ? (limitReached(modelRun) ?? "steps") : undefined;
  return runEndedDraft(run, "wrapped_up", `${ending}\n\n${phrases.runEndings.stopped(limit)}`);
}

const PROBLEMS: Readonly<Record<CallProblem, string>> = {
  cut: "The response was cut off, so this call was not executed. Make it again if needed.",
  too_many: `Only ${MAX_CALLS_PER_TURN} calls may be made in one turn, so this one was not executed, nor any after it.`,
  too_long:
    "The arguments of one turn's calls may have 256 KiB together. These had more, so they were left out and the call was not executed.",
  malformed: "The arguments are not a JSON object, so this call was not executed.",
};

/** Why a model's call gets a result without being looked at any further, or undefined. */
export function whyNotLooked(
  call: Call,
  run: Run,
  terms: RunTerms | undefined,
): string | undefined {
  const { modelRun } = run;
  if (modelRun === undefined || isCheck(run, call.call)) return undefined;
  if (call.problem !== undefined) return PROBLEMS[call.problem];
  if (modelRun.toolsOff !== undefined)
    return "No tools may be called any more in this run. Answer now.";
  if (call.tool === STAY_SILENT) return "You were asked, or have begun to look: answer.";
  if (call.tool === USE_TOOL)
    return `${USE_TOOL} takes the name of a tool as "tool" and its arguments, a JSON object, as "arguments".`;
  const names = terms?.tools.map(({ name }) => name) ?? [];
  const found = terms?.foundTools ?? [];
  if (!names.includes(call.tool) && !found.includes(call.tool)) {
    return `There is no tool ${call.tool} in this run. There are: ${names.join(", ") || "none"}.`;
  }
  const narrowed = terms && whyNarrowed(call, run, terms);
  if (narrowed !== undefined) return narrowed;
  if (!modelRun.denied.has(callKey(call.tool, call.args))) return undefined;
  return "A person denied this very call before, so nobody was asked again. The tool was not executed.";
}
