import { addUsage, estimateTokens } from "../core/block.ts";
import { addMoney, moneyOf } from "../core/money.ts";
import { spend } from "./spending.ts";
import { STAY_SILENT } from "../core/tool-spec.ts";
import type { Actor, Entry } from "../core/entry.ts";
import { isFromDoor, numberOfCall } from "./entry-ids.ts";
import { touch } from "./fold-actions.ts";
import { forget } from "./fold-memory.ts";
import { applyName, applyVoice } from "./fold-messages.ts";
import { applyChecks, applySeen, tellOthers } from "./fold-checks.ts";
import { isChecking } from "./checking.ts";
import { condensedTurns, fillCondensed, isOfThread } from "./filling.ts";
import { applyAssistant, extend, instructsOf, ModelRun, type Told } from "./model-run.ts";
import { askedFor, forgetRun } from "./family.ts";
import { helperWords } from "./helper-phrases.ts";
import { passOnLeft } from "./side-run.ts";
import { isInner, isReader, isTalking, type Offered, type Run, type Thread } from "./state.ts";
import type { Call } from "./call.ts";
import { addCall, begin } from "./fold-calls.ts";

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
  const parent = thread.runs.get(started.parent?.run ?? "");
  if (parent !== undefined) authors.push(...parent.authors);
  const goal = thread.goals.get(started.goal?.goal ?? "");
  if (goal?.started.by !== undefined) authors.push(goal.started.by);
  const run: Run = {
    started,
    calls: new Map(),
    open: new Map(),
    modelRun:
      started.talk &&
      new ModelRun(
        started.talk,
        started.principals,
        isInner({ started }) ? toldTask(thread, started) : thread,
        told,
      ),
    parent,
    helpers: [],
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
  if (parent !== undefined) applyHelper(thread, run, parent);
  else if (run.modelRun !== undefined && !isReader(run) && !isInner(run))
    thread.unfinished = undefined;
  thread.runs.set(started.run, run);
  thread.going.add(run);
  thread.counts.runs += 1;
}

/** What a helper is told when it begins. */
function toldTask({ evidence, figures }: Thread, { task }: Entry<"run_started">): Told {
  const requestTokens = estimateTokens(`${task?.text ?? ""}${task?.context ?? ""}`);
  return { evidence, figures, requestTokens, turns: 0, isRefused: false };
}

/** A helper works for those who asked its parent, and people's no to either is a no to both. */
function applyHelper(thread: Thread, run: Run, parent: Run): void {
  parent.helpers.push(run);
  const call = parent.calls.get(run.started.parent?.call ?? "");
  if (call !== undefined) {
    const { seq, at, task, run: name } = run.started;
    begin(thread, call, { seq, at, effect: "read", doing: helperWords(task) });
    call.helper = name;
  }
  if (parent.modelRun !== undefined) run.modelRun?.heedDenials(parent.modelRun);
}

/** Who wrote above in the thread led to what follows as those do who write there now (`voices`); the channel's small talk did not. */
export function applyAbove(thread: Thread, entry: Entry<"above">): void {
  const run = thread.runs.get(entry.run);
  if (run === undefined) return;
  run.above = entry;
  for (const { text } of entry.remembered?.items ?? []) addTokens(thread, run, text);
  for (const { account, name, text, attached = "", around } of entry.messages) {
    addTokens(thread, run, text + attached);
    if (account === undefined) continue;
    if (around !== true) applyVoice(thread, account, entry);
    applyName(thread, { actor: { account, name } });
  }
}

function addTokens(thread: Thread, run: Run, text: string): void {
  const { modelRun } = run;
  const tokens = estimateTokens(text);
  if (!isInner(run)) thread.requestTokens += tokens;
  if (modelRun !== undefined) modelRun.filling.size += tokens;
}

/** Models are told the thread in other words from now on. */
export function applyCondensed(thread: Thread, entry: Entry<"condensed">): void {
  const { usage, text, after, ms } = entry;
  spend(thread, entry);
  thread.counts.condensed = addUsage(thread.counts.condensed, usage);
  thread.counts.condensedMoney = addMoney(thread.counts.condensedMoney, moneyOf(entry));
  thread.counts.condenses += 1;
  const run = thread.runs.get(entry.run);
  if (run === undefined || !isTalking(run)) return;
  const { modelRun } = run;
  modelRun.workMs += ms;
  fillCondensed(modelRun.filling, entry);
  if (text === undefined || isReader(run) || isInner(run)) return;
  thread.requestTokens = after;
  thread.turns = condensedTurns(thread.turns);
  if (modelRun.filling.isTold) return;
  modelRun.filling.isTold = true;
  const { id, before } = entry;
  thread.untold.set(id, { id, about: { kind: "condensed", before, after } });
}

export function applyExtended(thread: Thread, entry: Entry<"extended">): void {
  forget(thread, entry.post);
  const { modelRun } = thread.runs.get(entry.of) ?? {};
  if (modelRun !== undefined) extend(modelRun, entry);
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
  spend(thread, entry);
  const run = thread.runs.get(entry.run);
  if (run === undefined || !isTalking(run)) return;
  instructBy(run, run.modelRun, entry);
  applyAssistant(run.modelRun, entry, thread.counts.uses);
  if (!isInner(run)) tellSwitch(thread, run.modelRun, entry);
  // Whom it works for is told of its calls with its report.
  const told = new Set<Run>([run, ...askedFor(run)]);
  const others = [...thread.going].filter((other) => !told.has(other));
  for (const use of run.modelRun.turn) {
    addCall(run, use, entry.at);
    for (const { modelRun } of others) modelRun?.untoldCalls.add(numberOfCall(use.call));
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

export function applyRunEnded(thread: Thread, ended: Entry<"run_ended">): void {
  const run = thread.runs.get(ended.run);
  if (run === undefined || run.ended !== undefined) return;
  run.ended = ended;
  thread.going.delete(run);
  if (run.parent !== undefined) {
    endHelper(run, run.parent);
    return;
  }
  // It is judged, and then forgotten.
  if (isInner(run)) return;
  if (ended.status === "silent") {
    forgetRun(thread, run);
    return;
  }
  // What it waited for is over: a word about agreeing to it would come too late.
  if (!isReader(run)) thread.assents.clear();
  if (ended.status === "completed") thread.model = run.chooses ?? thread.model;
  if (run.modelRun !== undefined) thread.isRefused = isOfThread(ended.error);
  if (run.modelRun !== undefined) passOnLeft(thread, run, run.modelRun, ended);
  if (isChecking(run)) tellOthers(thread, run);
  applySeen(thread, run, ended);
  if (ended.instead !== undefined) {
    forgetRun(thread, run);
    return;
  }
  const { id, seq } = ended;
  const offer = offerBelow(thread, run);
  const isOpenEnd = ended.status === "wrapped_up" && run.modelRun !== undefined && !isReader(run);
  if (isOpenEnd) thread.unfinished = { run: ended.run, principals: run.principals };
  const views = new Set(thread.views);
  const offers = { ...(offer && { offer }), ...(isOpenEnd && { goesOn: true as const }) };
  thread.outbox.set(id, { kind: "answer", id, seq, run, ...offers, views });
}

/** Nothing of it is shown: its report is a call's result, and its time its parent's. */
function endHelper({ modelRun }: Run, parent: Run): void {
  if (parent.modelRun !== undefined) parent.modelRun.workMs += modelRun?.workMs ?? 0;
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
