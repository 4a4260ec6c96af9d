import { callName, citationOf, entryId, runName } from "./entry-ids.ts";
import { createHash } from "node:crypto";
import { totalTokens } from "../core/block.ts";
import type { Command, Draft, Entry, JsonObject } from "../core/entry.ts";
import type { Call, PendingPost, Run, Thread } from "./state.ts";
import type { ToolSpec } from "../core/tool-spec.ts";
import { checkAnswer } from "./evidence.ts";
import {
  callKey,
  type CallProblem,
  type Circle,
  MAX_CALLS_PER_TURN,
  type ModelRun,
} from "./model-run.ts";

/** What one command comes to: a tool call, or a text to answer at once. */
export type DirectAnswer =
  | { kind: "call"; tool: string; args: JsonObject }
  | { kind: "text"; text: string; failed: boolean };

/** Tokens of a day, in UTC. */
export interface DayShares {
  /** What one full member's words may use. */
  person: number;
  /** What the threads of one channel may use together. */
  place: number;
  /** What the words of anybody else may use, each. */
  guest: number;
}

/** What a model's run is made of: with other values it is a triage with few tools, or a chat with none. */
export interface RunTerms {
  /** The model unless a thread has chosen another. */
  model: string;
  system: string;
  /** What may be called; anything else is refused, whatever the model writes. */
  tools: readonly ToolSpec[];
  budget: ModelRun["terms"]["budget"];
  maxOutputTokens: number;
  /** Tokens that all runs of a day may use, in UTC. */
  tokensPerDay: number;
  /** What of them is one person's or place's; without it nobody's part is limited. */
  shares?: DayShares;
  /** SHA-256, hexadecimal, over what every request of a run begins with. */
  prefix: string;
  /** Tokens that the model takes; past half of them a new run is told the thread in brief. */
  contextWindow: number;
}

export interface RunParts {
  /** Reads a typed command against the tools there are. */
  direct(command: Command, thread: Thread): DirectAnswer;
  /** The answer to plain language where no model is configured: it says so, and what can be done instead. */
  plain(text: string): string;
  terms: RunTerms | undefined;
}

type Begun = Draft<"run_started"> | Draft<"run_ended">;

/**
 * Takes up what was said: a command with a tool becomes a run of one call, plain language a run of the model's with all
 * messages that wait; everything else is answered at once.
 */
export function beginRun(pending: PendingPost, thread: Thread, parts: RunParts): Begun[] {
  const { entry, stopped } = pending;
  const run = runName(thread.counts.runs + 1);
  const start = (more: Partial<Draft<"run_started">> = {}): Draft<"run_started"> => ({
    id: entryId.runStarted(run),
    kind: "run_started",
    run,
    answers: [entry.id],
    principals: [entry.actor.account],
    calls: [],
    ...more,
  });
  const answer = (status: Draft<"run_ended">["status"], text: string): Begun[] => [
    start(),
    endDraft(run, status, text),
  ];
  if (stopped) return answer("cancelled", `Stopped${by(pending)} before it began.`);
  if (entry.kind === "message") {
    const { terms } = parts;
    if (terms === undefined) return answer("failed", parts.plain(entry.text));
    const waiting = [...thread.pending.values()].flatMap((each) =>
      each.entry.kind === "message" && !each.stopped ? [each.entry] : [],
    );
    return [
      start({
        answers: waiting.map(({ id }) => id),
        principals: [...new Set(waiting.map(({ actor }) => actor.account))],
        talk: {
          model: thread.model ?? terms.model,
          prefix: terms.prefix,
          budget: terms.budget,
          ...(isTooMuch(thread, terms) && { brief: true }),
        },
      }),
    ];
  }
  const direct = parts.direct(entry.command, thread);
  if (direct.kind === "text") return answer(direct.failed ? "failed" : "completed", direct.text);
  return [start({ calls: [{ call: callName(run, 1), tool: direct.tool, args: direct.args }] })];
}

/** Past half of the window, or where something in the thread made the last run fail. */
function isTooMuch({ requestTokens, tooMuch }: Thread, { contextWindow }: RunTerms): boolean {
  return tooMuch || requestTokens > contextWindow / 2;
}

/** The terms with the hash of their system prompt and tools. */
export function hashTerms(terms: Omit<RunTerms, "prefix">): RunTerms {
  const { system, tools } = terms;
  const prefix = createHash("sha256").update(JSON.stringify({ system, tools })).digest("hex");
  return { ...terms, prefix };
}

/**
 * Every call has its result and no model is asked: the results are the answer, or a Stop was. `draft`: what the model had
 * written by then.
 */
export function endRun(run: Run, draft = ""): Draft<"run_ended"> {
  const { started, calls, stopped, modelRun } = run;
  const ok = [...calls.values()].every((call) => call.finished?.outcome === "ok");
  if (stopped && (!ok || modelRun !== undefined)) {
    return endDraft(started.run, "cancelled", stopWords(run, draft));
  }
  return endDraft(started.run, ok ? "completed" : "failed");
}

function by({ stoppedBy }: Pick<Run, "stoppedBy"> | PendingPost): string {
  return stoppedBy === undefined ? "" : ` by ${stoppedBy}`;
}

/** Who stopped it, after what, and what may still go on. */
function stopWords(run: Run, draft: string): string {
  const made = [...run.calls.values()].filter(({ started }) => started !== undefined);
  const after = made.length === 1 ? "1 check" : `${made.length} checks`;
  const unknown = made.filter(({ finished }) => finished?.outcome === "unknown");
  const names = [...new Set(unknown.map(({ tool }) => tool))].join(", ");
  const left = draft.trim();
  return [
    made.length === 0
      ? `Stopped${by(run)} before the first check.`
      : `Stopped${by(run)} after ${after}.`,
    ...(names === "" ? [] : [`${names} may still be running: its outcome is unknown.`]),
    ...(left === "" ? [] : [`So far, unfinished and not checked:\n\n${left} …`]),
  ].join("\n\n");
}

function endDraft(
  run: string,
  status: Draft<"run_ended">["status"],
  text?: string,
): Draft<"run_ended"> {
  return {
    id: entryId.runEnded(run),
    kind: "run_ended",
    run,
    status,
    ...(text !== undefined && { text }),
  };
}

/** What comes next in a model's run. */
export type NextTurn = { do: "think" } | { do: "write"; draft: Draft<"gate"> | Draft<"run_ended"> };

/**
 * Decides from the fold alone. Undefined while a call has no result: the model is asked again only when all of them have.
 */
export function nextTurn(run: Run, modelRun: ModelRun): NextTurn | undefined {
  if (run.open.size > 0) return undefined;
  const { last, turn, toolsOff } = modelRun;
  if (last === undefined) {
    // A run of one step has to answer in it.
    const gate = toolsOff === undefined ? guard(run, modelRun) : undefined;
    return gate === undefined ? { do: "think" } : write(gate);
  }
  const gateUnseen = (modelRun.gates.at(-1)?.seq ?? 0) > last.seen;
  if (gateUnseen) return { do: "think" };
  const wasToldToAnswer = toolsOff !== undefined && toolsOff.seq <= last.seen;
  const isAnswer = wasToldToAnswer && last.content.some(({ kind }) => kind === "text");
  if (isAnswer || (turn.length === 0 && (last.stop !== "pause" || wasToldToAnswer)))
    return concludeRun(run, modelRun, last);
  // It called tools all the same: what it found is reported without it.
  if (wasToldToAnswer) {
    return write(
      endDraft(
        run.started.run,
        "wrapped_up",
        reportOf(run, "The model did not come to an answer."),
      ),
    );
  }
  const gate = toolsOff === undefined ? guard(run, modelRun) : undefined;
  return gate === undefined ? { do: "think" } : write(gate);
}

function write(draft: Draft<"gate"> | Draft<"run_ended">): NextTurn {
  return { do: "write", draft };
}

function gateDraft(
  run: Run,
  modelRun: ModelRun,
  gate: Entry<"gate">["gate"],
  text: string,
  toolsOff = false,
): Draft<"gate"> {
  const id = entryId.gate(run.started.run, modelRun.gates.length + 1);
  return { id, kind: "gate", run: run.started.run, gate, text, ...(toolsOff && { toolsOff }) };
}

/** Denials in a row after which the model has to answer instead of asking for more (CORE case 13). */
const MAX_DENIALS = 2;

/** What keeps a run from going on for ever: its limits, circles, people who say no. */
function guard(run: Run, modelRun: ModelRun): Draft<"gate"> | undefined {
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
function concludeRun(run: Run, modelRun: ModelRun, last: Entry<"assistant">): NextTurn {
  const text = last.content
    .flatMap((block) => (block.kind === "text" ? [block.text] : []))
    .join("\n\n")
    .trim();
  const name = run.started.run;
  if (last.stop === "refusal" || last.stop === "content_filter") {
    const why =
      last.stop === "refusal"
        ? "The model declined to answer."
        : "The provider's filter withheld the model's answer.";
    return write(endDraft(name, "failed", reportOf(run, text === "" ? why : `${why}\n\n${text}`)));
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
    return write(gateDraft(run, modelRun, "cut", why));
  }
  if (isMalformed) {
    const why = "The model called tools in a form that its server could not read, twice.";
    return write(endDraft(name, "failed", reportOf(run, why)));
  }
  if (text === "")
    return write(endDraft(name, "failed", reportOf(run, "The model gave no answer.")));
  const { problems, marked } = checkAnswer(text, run, modelRun);
  if (problems.length > 0 && !sentBack("evidence")) {
    const list = problems.map((problem) => `- ${problem}`).join("\n");
    return write(
      gateDraft(
        run,
        modelRun,
        "evidence",
        `Your answer was not shown yet:\n${list}\nWrite the whole answer again, corrected.`,
      ),
    );
  }
  const ending = isCut ? `${marked}\n\n> Cut off at the output limit.` : marked;
  const off = modelRun.toolsOff?.gate;
  if (off !== "limit" && off !== "stuck") return write(endDraft(name, "completed", ending));
  const why =
    off === "limit" ? `a limit (${limitReached(modelRun) ?? "steps"})` : "it went in circles";
  return write(
    endDraft(
      name,
      "wrapped_up",
      `${ending}\n\nStopped because of ${why}. Write "continue" to go on from here.`,
    ),
  );
}

/** What a run found, told without its model. */
export function reportOf({ calls }: Run, why: string): string {
  const lines = [...calls.values()].flatMap(({ call, tool, finished }) =>
    finished === undefined ? [] : [`- [${citationOf(call)}] ${tool}: ${finished.outcome}`],
  );
  return lines.length === 0 ? why : `${why}\n\nWhat was done so far:\n${lines.join("\n")}`;
}

/** What a model is told of a call that can never be run. */
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
  { modelRun }: Run,
  terms: RunTerms | undefined,
): string | undefined {
  if (modelRun === undefined) return undefined;
  if (call.problem !== undefined) return PROBLEMS[call.problem];
  if (modelRun.toolsOff !== undefined)
    return "No tools may be called any more in this run. Answer now.";
  const names = terms?.tools.map(({ name }) => name) ?? [];
  if (!names.includes(call.tool)) {
    return `There is no tool ${call.tool} in this run. There are: ${names.join(", ") || "none"}.`;
  }
  if (!modelRun.denied.has(callKey(call.tool, call.args))) return undefined;
  return "A person denied this very call before, so nobody was asked again. The tool was not executed.";
}
