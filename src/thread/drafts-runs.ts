import { type Action, askedCall } from "./action.ts";
import type { AppendKind, Draft, Entry } from "../core/entry.ts";
import type { ErrorCode } from "../core/errors.ts";
import type { RunTerms } from "../core/run-terms.ts";
import type { ReverseCall } from "../core/tool-call.ts";
import { notSaid } from "./check-phrases.ts";
import { isChecking } from "./checking.ts";
import {
  checkedDrafts,
  checkingDraft,
  firstLookIn,
  insteadDrafts,
  topicOf,
} from "./drafts-checks.ts";
import { callName, entryId, noticeId, runName } from "./entry-ids.ts";
import { mayCondense, type ModelWindow } from "./filling.ts";
import { callsOf } from "./family.ts";
import type { ModelRun } from "./model-run.ts";
import { type Mode, modeFor, termsFor } from "./modes.ts";
import * as phrases from "./phrases.ts";
import { isPin } from "./said.ts";
import { sideBudget } from "./side-run.ts";
import { askerIn, type PendingPost, type Run, talkingRuns, type Thread } from "./state.ts";
import { argsOf, type Call } from "./call.ts";
import type { RunParts, Surroundings } from "./surroundings.ts";
import { askedBy, waitingIn } from "./taken-up.ts";

type RunEnded = Draft<"run_ended">;

/**
 * Takes up what was said: a command with a tool becomes a run of one call, plain language a run of the model's with all
 * messages that wait (beside another, one that only reads); everything else is answered at once.
 */
export function beginDrafts(
  pending: PendingPost,
  { thread, run: parts, channels }: Pick<Surroundings, "thread" | "run" | "channels">,
  frozen?: readonly string[],
): (Draft<"run_started"> | RunEnded)[] {
  const { entry, stopped } = pending;
  const start = (more: Partial<Draft<"run_started">> = {}) => ({
    ...startedDraft(entry, thread),
    ...more,
  });
  const answer = (status: RunEnded["status"], text: string) => {
    const started = start();
    const ended = isPin(entry) ? runEndedDraft({ started }, "silent") : undefined;
    return [started, ended ?? runEndedDraft({ started }, status, text)];
  };
  // Without a model nobody can tell whether it is for the bot.
  const isUnanswered = pending.unsure === true && (stopped || parts.terms === undefined);
  if (isUnanswered) {
    const started = start();
    return [started, runEndedDraft({ started }, "silent")];
  }
  if (stopped) return answer("cancelled", phrases.stoppedBefore(pending));
  if (entry.kind === "message") {
    const { terms: main } = parts;
    if (main === undefined) return plainDrafts(start(), entry, thread, parts);
    const isBeside = talkingRuns(thread).first !== undefined;
    const { messages, instructing, unsure } = waitingIn(thread, isBeside);
    const begun = start();
    const people = instructing.filter(({ app }) => app !== true);
    // What bots say beside people chooses nothing that is looked at for these.
    const asking = people.length > 0 ? people : instructing;
    const asked = asking.map(({ text }) => text).join("\n");
    const mode = modeFor(main, { isAsked: people.length > 0, channels });
    const terms = termsFor(main, mode) ?? main;
    const looksFirst = !isBeside && !unsure && mode.kind !== "chat";
    return [
      start({
        ...(looksFirst && firstLookIn(thread, begun.run, asked, parts.checks)),
        answers: messages.map(({ id }) => id),
        ...askedBy(instructing),
        ...(isBeside && { reads: true }),
        talk: {
          ...talkOf(terms, mode, thread, parts),
          ...(isBeside && { budget: sideBudget(terms.budget) }),
          ...(unsure && { unsure: true as const }),
        },
      }),
    ];
  }
  const direct = parts.direct(entry.command, thread, frozen);
  if (direct.kind === "text") return answer(direct.failed ? "failed" : "completed", direct.text);
  return [callingDraft(entry, direct, thread)];
}

/** What a run that people talk to begins with. */
function talkOf(terms: RunTerms, mode: Mode, thread: Thread, parts: RunParts) {
  const { prefix, budget, gates } = terms;
  const model = parts.model ?? thread.model ?? terms.model;
  return {
    model,
    prefix,
    budget,
    ...(gates && { gates }),
    window: windowFor(model, terms, parts),
    ...(mode.kind !== "main" && { mode: mode.kind }),
  };
}

/** A run that goes on where another had reached a limit, for whoever pressed. Undefined without a model. */
export function continuingDraft(
  continues: string,
  click: Entry<"click">,
  { thread, run: parts, channels }: Pick<Surroundings, "thread" | "run" | "channels">,
): Draft<"run_started"> | undefined {
  const { terms: main } = parts;
  if (main === undefined) return undefined;
  const mode = modeFor(main, { isAsked: true, channels });
  const talk = talkOf(termsFor(main, mode) ?? main, mode, thread, parts);
  return { ...startedDraft(click, thread), continues, talk };
}

/** Without a model checks answer, where any fits. */
function plainDrafts(
  started: Draft<"run_started">,
  { text: asked }: Entry<"message">,
  thread: Thread,
  parts: RunParts,
): (Draft<"run_started"> | RunEnded)[] {
  const ended = (status: "completed" | "failed", text: string, draft = started) => [
    draft,
    runEndedDraft({ started: draft }, status, text),
  ];
  const plan = parts.checks?.plan(topicOf(thread, asked));
  if (plan === undefined) return ended("failed", parts.plain(asked));
  const { skills, calls, needs } = plan;
  const checks = { why: "no_model" as const };
  if (calls.length > 0) return [checkingDraft(thread, started, plan, checks)];
  // It is known what would answer: that is asked for.
  if (needs.length > 0) return ended("completed", notSaid(skills, needs));
  // One word may be half a command, and what is not set up is said; a question that nothing knows is counted.
  const isUnknown = skills.length === 0 && /\s/.test(asked.trim());
  const counted = isUnknown ? checkingDraft(thread, started, plan, checks) : started;
  return ended("failed", parts.plain(asked), counted);
}

/** What a quiet or listening thread says of it. */
export function turnedDrafts(
  click: Entry<"click">,
  thread: Thread,
): (Draft<"run_started"> | RunEnded)[] {
  const started = startedDraft(click, thread);
  return [started, runEndedDraft({ started }, "completed", phrases.turned(thread.room))];
}

/** A run of one call, which takes the action back. */
export function undoingDraft(
  undoes: string,
  reverse: ReverseCall,
  click: Entry<"click">,
  thread: Thread,
): Draft<"run_started"> {
  return { ...callingDraft(click, reverse, thread), undoes };
}

/** A run of the one call that an expired action was. */
export function repeatingDraft(
  action: Action,
  click: Entry<"click">,
  thread: Thread,
): Draft<"run_started"> {
  return { ...callingDraft(click, askedCall(action), thread), repeats: action.action };
}

type Begun = Entry<"message"> | Entry<"command"> | Entry<"click">;

/** The next run, which answers what somebody said. */
export function startedDraft(begun: Begun, { counts }: Thread): Draft<"run_started"> {
  const run = runName(counts.runs + 1);
  return {
    id: entryId.runStarted(run),
    kind: "run_started",
    run,
    answers: [begun.id],
    ...askedBy([begun]),
    calls: [],
  };
}

/** A run of the one call that records the thread as an incident. */
export function openingDraft(
  call: ReverseCall,
  click: Entry<"click">,
  thread: Thread,
): Draft<"run_started"> {
  return callingDraft(click, call, thread);
}

function callingDraft(
  begun: Begun,
  { tool, args }: ReverseCall,
  thread: Thread,
): Draft<"run_started"> {
  const started = startedDraft(begun, thread);
  return { ...started, calls: [{ call: callName(started.run, 1), tool, args }] };
}

export function windowFor(model: string, terms: RunTerms, { windowOf }: RunParts): ModelWindow {
  const { contextWindow, maxOutputTokens: output, fixedTokens: fixed } = terms;
  const tokens = model === terms.model ? contextWindow : (windowOf?.(model) ?? contextWindow);
  return { tokens, output, fixed };
}

export function runEndedDraft(
  { started: { run } }: { started: { run: string } },
  status: RunEnded["status"],
  text?: string,
  error?: ErrorCode,
): RunEnded {
  return {
    id: entryId.runEnded(run),
    kind: "run_ended",
    run,
    status,
    ...(text !== undefined && { text }),
    ...(error !== undefined && { error }),
  };
}

type Around = Pick<Surroundings, "thread" | "answeredBy">;

/**
 * Every call has its result and no model is asked: the results are the answer, or a Stop was. `written`: what the model had
 * written by then.
 */
function endDraft(run: Run, around: Around, written = ""): RunEnded {
  const { calls, stopped, modelRun } = run;
  const ok = [...calls.values()].every((call) => call.finished?.outcome === "ok");
  if (stopped && (!ok || modelRun !== undefined)) {
    return runEndedDraft(run, "cancelled", phrases.stoppedRun(run, written.trim()));
  }
  const [only] = calls.size === 1 && ok && modelRun === undefined ? calls.values() : [];
  const words = only && wordsFor(run, only, around);
  return runEndedDraft(run, ok ? "completed" : "failed", words);
}

export function endDrafts(run: Run, around: Surroundings): Draft<AppendKind>[] {
  if (run.aside === "pin") return pinEndDrafts(run);
  const isCut = run.stopped && [...run.calls.values()].some(isCutOff);
  if (isChecking(run) && !isCut) return checkedDrafts(run, around);
  const ended = endDraft(run, around);
  // Who gave it elsewhere was told there where it shows.
  const isShown = run.aside === "door" && ended.status === "completed";
  return [isShown ? runEndedDraft(run, "silent") : ended];
}

function isCutOff({ finished }: Call): boolean {
  return finished?.outcome === "cancelled";
}

/** Nobody waits for a word: only why a message is not in the timeline is told, to who pinned it. */
function pinEndDrafts(run: Run): (Draft<"notice"> | RunEnded)[] {
  const ended = runEndedDraft(run, "silent");
  const [call] = run.calls.values();
  const { outcome, text = "" } = call?.finished ?? {};
  const [by] = run.authors;
  const [post] = run.started.answers;
  const isUntold = outcome === "error" || outcome === "blocked";
  if (!isUntold || by === undefined || post === undefined) return [ended];
  const why = phrases.notPinned(text);
  return [{ id: noticeId.word(post), kind: "notice", text: why, to: by.account }, ended];
}

/** What is said in place of the result of a call that people gave: its card says the rest. */
function wordsFor(run: Run, call: Call, { thread, answeredBy }: Around): string | undefined {
  const { started, finished } = call;
  const by = answeredBy(call.tool);
  if (by?.kind !== "card") return by && finished?.text;
  const told = [...thread.incidents.values()].filter(
    ({ state }) => state.seq > (started?.seq ?? 0),
  );
  const [{ state } = {}] = told.length === 1 ? told : [];
  if (state === undefined) return undefined;
  const { id, ...changed } = argsOf(call);
  const fields = id === undefined ? [] : Object.keys(changed);
  return phrases.recorded(by.did, state.incident, { name: askerIn(run)?.name ?? "", fields });
}

export type Above = Omit<Draft<"above">, "id" | "kind" | "run">;

export function aboveDraft({ started: { run } }: Run, above: Above): Draft<"above"> {
  return { id: entryId.above(run), kind: "above", run, ...above };
}

export type ModelFacts =
  | { kind: "turn"; turn: Omit<Draft<"assistant">, "id" | "kind" | "run"> }
  /** The request was cut; what the model had written by then. */
  | { kind: "cut"; written: string }
  /** The program has another prompt or other tools than the run began with. */
  | { kind: "changed" }
  | { kind: "failed"; why: string; code: ErrorCode | undefined; tokens?: number };

/** Undefined where the run is over, or is to be ended otherwise. A turn is written down all the same: it was used. */
export function modelDrafts(
  run: Run,
  facts: ModelFacts,
  around: Surroundings,
): Draft<AppendKind>[] | undefined {
  if (facts.kind === "turn") {
    const name = run.started.run;
    const { turn } = facts;
    return [{ id: entryId.assistant(name, turn.step), kind: "assistant", run: name, ...turn }];
  }
  if (run.ended !== undefined) return undefined;
  // Cut by a Stop it ends with what it had written; by a shutdown it does not end.
  if (facts.kind === "cut") {
    return run.stopped && run.open.size === 0 ? [endDraft(run, around, facts.written)] : undefined;
  }
  if (run.stopped) return undefined;
  // Within a run the prefix stays the same bytes.
  if (facts.kind === "changed") {
    const text = `${reportOf(run, phrases.runEndings.changed)}${phrases.goOn(run, "\n\n")}`;
    return [runEndedDraft(run, "wrapped_up", text)];
  }
  const { why, code } = facts;
  const { modelRun } = run;
  if (code === "MODEL_CONTEXT_TOO_LONG" && modelRun !== undefined) {
    const refused = refusedDraft(run, modelRun, facts);
    if (refused !== undefined) return [refused];
  }
  const instead = insteadDrafts(run, { why, code }, around);
  if (instead !== undefined) return instead;
  const { head, foot } = phrases.modelFailure(why, code);
  return [runEndedDraft(run, "failed", `${reportOf(run, head)}\n\n${foot}`, code)];
}

/** Where what the model is told can be condensed that comes first; what cannot be made shorter ends the run with what is known. */
function refusedDraft(
  run: Run,
  { filling }: ModelRun,
  { why, tokens = filling.size }: Extract<ModelFacts, { kind: "failed" }>,
): Draft<"overflow"> | RunEnded | undefined {
  const { run: name } = run.started;
  if (mayCondense(filling)) {
    const id = entryId.overflow(name, filling.overflows + 1);
    return { id, kind: "overflow", run: name, tokens, why };
  }
  return filling.tries === 0 ? undefined : tooLongDraft(run, filling);
}

/** The model was asked for as little as there can be, and it was too much: people get what is known, and can go on from there. */
export function tooLongDraft(run: Run, { summary }: ModelRun["filling"]): RunEnded {
  const { tooLong, soFar } = phrases.runEndings;
  const known = summary === undefined ? [] : [soFar(summary)];
  const text = [reportOf(run, tooLong), ...known].join("\n\n") + phrases.goOn(run, "\n\n");
  return runEndedDraft(run, "wrapped_up", text, "MODEL_CONTEXT_TOO_LONG");
}

export type CondenseFacts =
  | Exclude<ModelFacts, { kind: "turn" }>
  | { kind: "condensed"; condensed: Omit<Draft<"condensed">, "id" | "kind" | "run"> };

/** As `modelDrafts`, for a request that was for a summary. */
export function condensedDrafts(
  run: Run,
  { filling }: ModelRun,
  facts: CondenseFacts,
  around: Surroundings,
): Draft<AppendKind>[] | undefined {
  if (facts.kind !== "condensed") return modelDrafts(run, facts, around);
  const { run: name } = run.started;
  const id = entryId.condensed(name, filling.tries + 1);
  return [{ id, kind: "condensed", run: name, ...facts.condensed }];
}

/** What gates say to the model, told together. */
export function gateDrafts(
  { started: { run } }: Run,
  { gates }: ModelRun,
  words: readonly Pick<Entry<"gate">, "gate" | "text" | "toolsOff">[],
): Draft<"gate">[] {
  return words.map(({ gate, text, toolsOff = false }, i) => ({
    id: entryId.gate(run, gates.length + 1 + i),
    kind: "gate",
    run,
    gate,
    text,
    ...(toolsOff && { toolsOff }),
  }));
}

export function reportOf(run: Run, why: string): string {
  return phrases.report(why, callsOf(run));
}
