import { estimateTokens } from "../core/block.ts";
import type { Entry } from "../core/entry.ts";
import { GOAL_TOOLS } from "../core/goal.ts";
import { headOf } from "../core/text.ts";
import { DELEGATE } from "../core/tool-spec.ts";
import { numberOfCall, runOfCall } from "./entry-ids.ts";
import { applyGrant, touch } from "./fold-actions.ts";
import { forget, forgetOldest, MAX_EVIDENCE, MAX_FIGURES, MAX_PAST } from "./fold-memory.ts";
import { answererOf, applyAddresses, applyVoice, closeQuestion, place } from "./fold-messages.ts";
import { addHelp } from "./fold-checks.ts";
import { isCheck } from "./checking.ts";
import { fillResult } from "./filling.ts";
import { toldIn } from "./figures.ts";
import { noteBroken, planLook } from "./looks.ts";
import { applyResult, ModelRun } from "./model-run.ts";
import { routeTo } from "./routing.ts";
import { applyHandOver, rejoinFirst } from "./side-run.ts";
import { noteSilence } from "./silences.ts";
import { isInner, isTalking, type Run, talkingRuns, type Thread } from "./state.ts";
import { type Call, type Finished, refOf, type Start } from "./call.ts";

/** The life of a call: asked for, started, ended, and settled where nobody knows how. */

/** A call that was asked for and has no result yet. */
export function addCall(
  run: Run,
  { call, tool, args, problem }: Pick<Call, "call" | "tool" | "args" | "problem">,
  askedAt: number,
): Call {
  const added: Call = {
    run: run.started.run,
    call,
    tool,
    args,
    askedAt,
    problem,
    asked: undefined,
    reply: undefined,
    told: new Set(),
    warned: "no",
    waits: false,
    isDelayTold: false,
    action: undefined,
    helper: undefined,
    undoes: undefined,
    started: undefined,
    finished: undefined,
    word: undefined,
    settled: undefined,
  };
  run.calls.set(call, added);
  run.open.set(call, added);
  return added;
}

/** Also a call whose run is over, as long as its outcome is unknown. */
export function findCall(thread: Thread, call: string): Call | undefined {
  return thread.runs.get(runOfCall(call))?.calls.get(call) ?? thread.unknown.get(call);
}

export function applyStarted(thread: Thread, entry: Entry<"tool_started">): void {
  const call = findCall(thread, entry.call);
  if (call === undefined) return;
  begin(thread, call, entry);
  const { action } = call;
  if (action === undefined) return;
  action.started = true;
  applyGrant(thread, call, action, entry);
  rejoinFirst(thread);
  touch(thread, action, entry);
}

export function begin(thread: Thread, call: Call, started: Start): void {
  call.started = started;
  thread.host = started.host ?? thread.host;
  thread.counts.calls += 1;
}

function startIn({ seq, at, host, args, doing }: Entry<"tool_finished">): Start {
  return { seq, at, effect: "read", host, args, doing };
}

/** What these return was so once, or is what a model made of other calls: it shows nothing by itself. */
const OF_MEMORY: ReadonlySet<string> = new Set([
  "recall",
  "notes",
  DELEGATE,
  GOAL_TOOLS.completed,
  GOAL_TOOLS.summarize,
]);

/** What these return is numbers, which an answer says as they are. */
const OF_NUMBERS: ReadonlySet<string> = new Set(["incident_stats"]);

/** What these return stands in a file of the operator's. */
const OF_SKILLS: ReadonlySet<string> = new Set(["activate_skill", "read_skill_file"]);

export function applyFinished(thread: Thread, entry: Entry<"tool_finished">): void {
  const call = findCall(thread, entry.call);
  if (call === undefined) return;
  const { outcome, ms = 0 } = entry;
  const run = thread.runs.get(call.run);
  if (entry.tool !== undefined && call.started === undefined) begin(thread, call, startIn(entry));
  call.finished = keptEnd(run, entry);
  thread.counts.toolMs += ms;
  run?.open.delete(call.call);
  noteGaps(thread, entry);
  endQuestion(thread, run, call, entry);
  if (outcome === "ok" && OF_SKILLS.has(call.tool)) applyAddresses(thread, entry.text);
  if (isCheck(run, call.call)) noteEvidence(thread, call, entry);
  if (run?.modelRun !== undefined) tellModel(thread, run.modelRun, call, entry);
  if (entry.handsOver === true && run?.modelRun !== undefined) applyHandOver(thread, run.modelRun);
  if (outcome === "unknown") {
    thread.unknown.set(call.call, call);
    if (call.word !== undefined) tellWord(thread, call, call.word);
  }
  const { verifyAfterMs: afterMs } = entry;
  if (outcome === "ok" && afterMs !== undefined) {
    const isCited = run?.modelRun !== undefined;
    const check = { of: call, afterMs, dueAt: entry.at + afterMs, isCited, isDue: false };
    thread.checks.set(call.call, check);
  }
  noteBroken(thread, run, call, entry);
  planLook(thread, call, entry);
  noteSilence(thread, call, entry);
  if (entry.marks === true) thread.marks.set(entry.id, call);
  const { action, undoes } = call;
  if (undoes !== undefined) touch(thread, undoes, entry);
  // What was taken back is not looked at any more.
  if (undoes !== undefined && outcome === "ok") {
    thread.checks.delete(undoes.call);
    thread.looks.delete(undoes.call);
  }
  if (action === undefined) return;
  action.finished = { outcome, ms: entry.ms };
  action.reverse = entry.undo;
  touch(thread, action, entry);
}

/** Of a run's results so many characters are kept in memory. */
const MAX_RESULTS = 64_000;
/** Of each one after that, enough to say why a call was refused. */
const MAX_HEAD = 200;

/** However long a run investigates, memory does not grow with what it reads: its model was told, and the journal has it. */
function keptEnd(run: Run | undefined, entry: Entry<"tool_finished">): Finished {
  const { modelRun } = run ?? {};
  const { text } = entry;
  if (modelRun === undefined || text.length <= MAX_HEAD || isCheck(run, entry.call)) return entry;
  modelRun.resultChars += text.length;
  if (modelRun.resultChars <= MAX_RESULTS) return entry;
  return { ...entry, text: ownCopy(headOf(text, MAX_HEAD)), isShortened: true };
}

/** V8 keeps the whole text for as long as a part of it lives. */
function ownCopy(text: string): string {
  return Buffer.from(text).toString();
}

function noteGaps({ counts, helps }: Thread, { gaps = [] }: Entry<"tool_finished">): void {
  if (gaps.length > 0) counts.blind += 1;
  for (const help of new Set(gaps.map((gap) => gap.help))) addHelp(helps, help);
}

/** A call that was a question has its answer, or waits for none any more. */
function endQuestion(
  thread: Thread,
  run: Run | undefined,
  call: Call,
  entry: Entry<"tool_finished">,
): void {
  const { modelRun } = run ?? {};
  if (call.asked !== undefined) closeQuestion(thread, call, entry);
  if (entry.answers !== undefined) {
    // Who answers a question instructs what follows from it.
    const { actor } = answererOf(thread, call, entry) ?? {};
    if (actor !== undefined) {
      run?.principals.add(actor.account);
      applyVoice(thread, actor.account, entry);
    }
    forget(thread, entry.answers);
    // An older version took what anybody wrote next for the answer.
    if (modelRun !== undefined) {
      modelRun.unseen = modelRun.unseen.filter(({ id }) => id !== entry.answers);
    }
  }
  // A reply that a click overtook is a message like any other: it instructs the run.
  const { reply } = call;
  const isOvertaken = reply !== undefined && reply.id !== entry.answers;
  if (run !== undefined && isTalking(run) && isOvertaken) {
    place(thread, reply, routeTo(thread, run));
  }
}

/** The model is told a result by its next request, and may cite what was made. */
function tellModel(
  thread: Thread,
  modelRun: ModelRun,
  ended: Call,
  entry: Entry<"tool_finished">,
): void {
  const { tool, args, action } = ended;
  const { outcome, text, gate, ms = 0 } = entry;
  noteEvidence(thread, ended, entry);
  const tokens = estimateTokens(text);
  fillResult(modelRun.filling, tokens);
  applyResult(modelRun, { tool, args, shown: action?.proposal.args, outcome, text, gate }, ms);
  // Nobody else is told what a helper or a goal's run saw, but for what it reports.
  const run = thread.runs.get(ended.run);
  if (run !== undefined && isInner(run)) return;
  thread.requestTokens += tokens;
  const { first } = talkingRuns(thread);
  // What a side run saw is told to the first run when it ends.
  if (first !== undefined && first.modelRun !== modelRun) first.modelRun.filling.size += tokens;
}

/** What was made may be cited. */
function noteEvidence(
  thread: Thread,
  { call, tool, started }: Call,
  { outcome, text, artifacts = [], gate }: Entry<"tool_finished">,
): void {
  // The program's own words show nothing.
  if (gate !== undefined) return;
  // Where the text was cut, numbers may stand in what is left out.
  if (outcome === "ok" && OF_NUMBERS.has(tool) && artifacts.length === 0) {
    const told = toldIn(text);
    forgetOldest(thread, thread.figures, MAX_FIGURES - 1);
    if (told !== undefined) thread.figures.set(numberOfCall(call), told);
  }
  if (outcome === "ok" || outcome === "error" || outcome === "unknown") {
    const did = started !== undefined && started.effect !== "read" ? "changed" : "ok";
    const well = OF_MEMORY.has(tool) ? "remembered" : did;
    const effect = { ok: well, error: "failed", unknown: "unknown" } as const;
    forgetOldest(thread, thread.evidence, MAX_EVIDENCE - 1);
    thread.evidence.set(numberOfCall(call), effect[outcome]);
  }
}

export function applySettled(thread: Thread, entry: Entry<"settled">): void {
  const call = findCall(thread, entry.call);
  if (call === undefined) return;
  forget(thread, entry.click);
  call.settled = entry;
  forgetOldest(thread, thread.unknown, MAX_PAST, (each) => each.settled !== undefined);
  const { action, undoes } = call;
  if (undoes !== undefined) touch(thread, undoes, entry);
  if (action !== undefined) {
    action.settled = entry;
    touch(thread, action, entry);
    return;
  }
  // With an action its card shows it.
  const { id, name: by, happened } = entry;
  const about = { kind: "settled", call: call.call, by, happened } as const;
  thread.untold.set(id, { id, about });
}

/** A late word counts only for an outcome that is, or is then declared, unknown. */
export function applyLateWord(thread: Thread, word: Entry<"signal">): void {
  const call = findCall(thread, word.call);
  if (call === undefined || call.started === undefined) return;
  call.word = word;
  if (call.finished?.outcome === "unknown") tellWord(thread, call, word);
}

function tellWord(thread: Thread, call: Call, { id, outcome, text }: Entry<"signal">): void {
  const ref = refOf(call);
  const isSettled = call.settled !== undefined;
  thread.untold.set(id, { id, about: { kind: "late", ref, outcome, text, isSettled } });
}
