import { estimateTokens } from "../core/block.ts";
import { STAY_SILENT } from "../core/tool-spec.ts";
import type { Actor, Entry } from "../core/entry.ts";
import { isFromDoor, numberOfCall, runOfCall } from "./entry-ids.ts";
import { applyGrant, touch } from "./fold-actions.ts";
import { forget, forgetOldest, MAX_EVIDENCE, MAX_FIGURES, MAX_PAST } from "./fold-memory.ts";
import {
  answererOf,
  applyAddresses,
  applyName,
  applyVoice,
  closeQuestion,
  place,
} from "./fold-messages.ts";
import { addHelp, applyChecks, applySeen, tellOthers } from "./fold-checks.ts";
import { isCheck, isChecking } from "./checking.ts";
import { toldIn } from "./figures.ts";
import { noteBroken, planLook } from "./looks.ts";
import { applyAssistant, applyResult, instructsOf, ModelRun } from "./model-run.ts";
import { routeTo } from "./routing.ts";
import { applyHandOver, passOnLeft, rejoinFirst } from "./side-run.ts";
import { noteSilence } from "./silences.ts";
import {
  type Call,
  isReader,
  isTalking,
  type Offered,
  refOf,
  type Run,
  type Start,
  talkingRuns,
  type Thread,
} from "./state.ts";

/** The life of a call: asked for, started, ended, and settled where nobody knows how. */

/** A call that was asked for and has no result yet. */
function addCall(
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

function begin(thread: Thread, call: Call, started: Start): void {
  call.started = started;
  thread.host = started.host ?? thread.host;
  thread.counts.calls += 1;
}

function startIn({ seq, at, host, args, doing }: Entry<"tool_finished">): Start {
  return { seq, at, effect: "read", host, args, doing };
}

/** What these return was so once. */
const OF_MEMORY: ReadonlySet<string> = new Set(["recall", "notes"]);

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
  call.finished = entry;
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
  const { outcome, text, ms = 0 } = entry;
  noteEvidence(thread, ended, entry);
  thread.requestTokens += estimateTokens(text);
  applyResult(modelRun, { tool, args, shown: action?.proposal.args, outcome, text }, ms);
}

/** What was made may be cited. */
function noteEvidence(
  thread: Thread,
  { call, tool, started }: Call,
  { outcome, text, artifacts = [] }: Entry<"tool_finished">,
): void {
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

/** The life of a run: started, and for a model's turn by turn, to its end. */

export function applyRunStarted(thread: Thread, started: Entry<"run_started">): void {
  let stopped = false;
  let stoppedBy: string | undefined;
  let chooses: string | undefined;
  let isHush = false;
  let aside: Run["aside"];
  const authors: Actor[] = [];
  const messages = new Map<string, string>();
  const told: Entry<"message">[] = [];
  for (const id of started.answers) {
    const pending = thread.pending.get(id);
    if (pending !== undefined) {
      authors.push(pending.entry.actor);
      messages.set(id, pending.entry.actor.account);
    }
    stopped ||= pending?.stopped ?? false;
    stoppedBy ??= pending?.stoppedBy;
    if (pending?.entry.kind === "message") told.push(pending.entry);
    const command = pending?.entry.kind === "command" ? pending.entry.command : undefined;
    if (command?.name === "model") chooses = command.model;
    isHush ||= command?.name === "quiet";
    if (command?.name === "pin") aside = "pin";
    else if (command !== undefined && isFromDoor(id)) aside = "door";
    thread.pending.delete(id);
    const click = thread.clicks.get(id);
    if (click !== undefined) authors.push(click.actor);
    isHush ||= click?.choice.kind === "quiet";
    forget(thread, id);
  }
  const replaced = thread.runs.get(started.checks?.instead?.of ?? "");
  if (replaced !== undefined) {
    authors.push(...replaced.authors);
    for (const [id, account] of replaced.messages) messages.set(id, account);
  }
  const run: Run = {
    started,
    calls: new Map(),
    open: new Map(),
    modelRun: started.talk && new ModelRun(started.talk, started.principals, thread, told),
    above: undefined,
    messages,
    progressMessages: new Map(),
    authors,
    askers: new Set(authors.map(({ account }) => account)),
    principals: new Set(started.principals),
    chooses,
    isHush,
    aside,
    stopped,
    stoppedBy,
    ended: undefined,
  };
  applyRepeating(thread, run);
  applyChecks(thread, run);
  for (const asked of started.calls) {
    const call = addCall(run, { ...asked, problem: undefined }, started.at);
    applyUndoing(thread, run, call);
  }
  thread.runs.set(started.run, run);
  thread.going.add(run);
  thread.counts.runs += 1;
  if (started.talk?.brief === true) thread.tooMuch = false;
}

/** Who wrote above in the thread led to what follows as those do who write there now (`voices`); the channel's small talk did not. */
export function applyAbove(thread: Thread, entry: Entry<"above">): void {
  const run = thread.runs.get(entry.run);
  if (run === undefined) return;
  run.above = entry;
  for (const { text } of entry.remembered?.items ?? [])
    thread.requestTokens += estimateTokens(text);
  for (const { account, name, text, attached = "", around } of entry.messages) {
    thread.requestTokens += estimateTokens(text + attached);
    if (account === undefined) continue;
    if (around !== true) applyVoice(thread, account, entry);
    applyName(thread, { actor: { account, name } });
  }
}

function applyRepeating(thread: Thread, { started, authors: [by] }: Run): void {
  const expired = thread.actions.get(started.repeats ?? "");
  if (expired === undefined || by === undefined) return;
  expired.repeatedBy = by;
  touch(thread, expired, started);
}

function applyUndoing(thread: Thread, { started, authors: [by] }: Run, call: Call): void {
  const undone = thread.actions.get(started.undoes ?? "");
  if (undone === undefined || by === undefined) return;
  call.undoes = undone;
  undone.undoing = { by, call };
  touch(thread, undone, started);
}

/** A turn that came after the run's end, because both were on their way, changes nothing any more. */
export function applyTurn(thread: Thread, entry: Entry<"assistant">): void {
  const run = thread.runs.get(entry.run);
  if (run === undefined || !isTalking(run)) return;
  instructBy(run, run.modelRun, entry);
  applyAssistant(run.modelRun, entry, thread.counts.uses);
  tellSwitch(thread, run.modelRun, entry);
  const { first, side } = talkingRuns(thread);
  const other = run === first ? side : first;
  for (const use of run.modelRun.turn) {
    addCall(run, use, entry.at);
    other?.modelRun.untoldCalls.add(numberOfCall(use.call));
  }
  thread.counts.uses += run.modelRun.turn.length;
}

/** Once per run; not of a turn that may say nothing, since nobody may have asked the bot. */
function tellSwitch(thread: Thread, modelRun: ModelRun, entry: Entry<"assistant">): void {
  const { id, model: to, instead: code } = entry;
  const { terms, turn, isSwitchTold } = modelRun;
  const maySayNothing = terms.unsure === true && turn.some(({ tool }) => tool === STAY_SILENT);
  if (to === undefined || code === undefined || isSwitchTold || maySayNothing) return;
  modelRun.isSwitchTold = true;
  thread.untold.set(id, { id, about: { kind: "switched", from: terms.model, to, code } });
}

/** Those whose words the request told as instructions ask for what comes of it; versions before this one told everybody's so. */
function instructBy({ principals }: Run, modelRun: ModelRun, entry: Entry<"assistant">): void {
  const { seen } = entry;
  modelRun.instructs = instructsOf(entry, modelRun);
  if (modelRun.instructs !== undefined) principals.clear();
  const told = modelRun.unseen.flatMap(({ seq, actor, app }) =>
    seq <= seen && app !== true ? [actor.account] : [],
  );
  for (const account of modelRun.instructs ?? told) principals.add(account);
}

/** Failures whose cause may stand in the thread, where every later request would meet it again. */
const TOO_MUCH: ReadonlySet<string> = new Set([
  "MODEL_CONTEXT_TOO_LONG",
  "MODEL_CONTENT_UNSUPPORTED",
  "MODEL_FILTERED",
  "MODEL_REQUEST_INVALID",
]);

export function applyRunEnded(thread: Thread, ended: Entry<"run_ended">): void {
  const run = thread.runs.get(ended.run);
  if (run === undefined || run.ended !== undefined) return;
  run.ended = ended;
  thread.going.delete(run);
  if (ended.status === "silent") {
    thread.runs.delete(ended.run);
    return;
  }
  // What it waited for is over: a word about agreeing to it would come too late.
  if (!isReader(run)) thread.assents.clear();
  if (ended.status === "completed") thread.model = run.chooses ?? thread.model;
  if (ended.error !== undefined && TOO_MUCH.has(ended.error)) thread.tooMuch = true;
  if (run.modelRun !== undefined) passOnLeft(thread, run, run.modelRun, ended);
  if (isChecking(run)) tellOthers(thread, run);
  applySeen(thread, run, ended);
  if (ended.instead !== undefined) {
    thread.runs.delete(ended.run);
    return;
  }
  const { id, seq } = ended;
  const offer = offerBelow(thread, run);
  const views = new Set(thread.views);
  thread.outbox.set(id, { kind: "answer", id, seq, run, ...(offer && { offer }), views });
}

/** The first answer among several people says how to have it quieter. */
function offerBelow({ room }: Thread, { modelRun, isHush }: Run): Offered | undefined {
  if (!room.isChat) return undefined;
  if (isHush) return "listen";
  if (modelRun === undefined || room.offered || room.quiet || room.people.size < 2)
    return undefined;
  room.offered = true;
  return "quiet";
}
