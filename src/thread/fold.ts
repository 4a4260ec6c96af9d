import { entryId, readCardState } from "./entry-ids.ts";
import { applyAssistant, applyGate, openModelRun, type ModelRun } from "./model-run.ts";
import { type Action, close, isOpen, isOver } from "./action.ts";
import { addUsage, estimateTokens, totalTokens } from "../core/block.ts";
import type { Actor, Entry } from "../core/entry.ts";
import { isAssent } from "./assent.ts";
import type { StoredEntry } from "../core/entry.ts";
import { emptyThread, type Call, type Run, currentModelRun, type Thread } from "./state.ts";
import {
  applyVoice,
  joinRun,
  addCall,
  advanceAction,
  advanceCall,
  findCall,
  applyLateWord,
  forget,
  leave,
  touch,
} from "./fold-calls.ts";
import { applyReply, isAnswer, keepOffer, showOffer, tellFiles } from "./fold-notices.ts";

/**
 * Folds entries into a thread, in place and in constant time each, and returns it. The same entries always give the same
 * thread, and every prefix gives a valid one. Stops for good at a newer program's entry.
 */
export function fold(thread: Thread, entries: readonly StoredEntry[]): Thread {
  for (const entry of entries) {
    if (thread.newer !== undefined) break;
    if (entry.kind === "newer") {
      thread.newer = entry;
      break;
    }
    thread.last = entry.seq;
    thread.head = entry.head;
    advance(thread, entry);
  }
  return thread;
}

/** An action as it stands at the end of a thread's entries, also one that its fold has forgotten. */
export function pastAction(entries: readonly StoredEntry[], id: string): Action | undefined {
  return fold(emptyThread({ keepsAll: true }), entries).actions.get(id);
}

function advance(thread: Thread, entry: Entry): void {
  if (isPerson(entry)) thread.parked = false;
  switch (entry.kind) {
    case "message":
      applyName(thread, entry);
      thread.newest = entry.seq;
      thread.requestTokens += estimateTokens(entry.text);
      applyVoice(thread, entry.actor.account, entry);
      tellFiles(thread, entry);
      applyMessage(thread, entry);
      return;
    case "command":
      applyName(thread, entry);
      thread.newest = entry.seq;
      thread.pending.set(entry.id, { entry, stopped: false });
      return;
    case "click":
      applyName(thread, entry);
      thread.clicks.set(entry.id, entry);
      return;
    case "stop":
      stop(thread, entry);
      return;
    case "timer":
      expire(thread, entry);
      return;
    case "signal":
      applyLateWord(thread, entry);
      return;
    case "run_started":
      startRun(thread, entry);
      return;
    case "run_ended":
      endRun(thread, entry);
      return;
    case "assistant":
      thread.counts.usage = addUsage(thread.counts.usage, entry.usage);
      thread.requestTokens = totalTokens({ ...entry.usage, output: 0 });
      answerBy(thread, entry);
      return;
    case "gate": {
      const talk = thread.runs.get(entry.run)?.modelRun;
      if (talk !== undefined) applyGate(talk, entry);
      return;
    }
    case "incident":
    case "tenant":
      return; // in journals that are no threads
    case "view_added":
      if (!thread.views.includes(entry.view)) thread.views.push(entry.view);
      return;
    case "notice":
      applyNotice(thread, entry);
      return;
    case "delivered":
      if (entry.stage === "final") acknowledge(thread, entry);
      else beginMessage(thread, entry);
      return;
    case "action_proposed":
    case "vote":
    case "action_closed":
      advanceAction(thread, entry);
      return;
    case "tool_started":
    case "tool_finished":
    case "settled":
      advanceCall(thread, entry);
      return;
  }
}

function applyName({ names }: Thread, { actor }: { actor: Actor }): void {
  names.set(actor.account, actor.name);
}

/** The people were told that an action or a question is about to expire. */
function markWarned(thread: Thread, id: string): void {
  const waiting = thread.actions.get(id) ?? findCall(thread, id);
  if (waiting !== undefined) waiting.warned = true;
}

/**
 * A message answers the question that waits for its author, or joins the run that goes on; else it waits for a run of its
 * own. While an action of the run is open nothing can be said to it, and its author is told so. One that only agrees
 * with an open action is no word to a model: its author is told what to press.
 */
function applyMessage(thread: Thread, entry: Entry<"message">): void {
  const run = currentModelRun(thread);
  if (run !== undefined && !run.stopped && applyReply(thread, run, entry)) return;
  if (isAssent(entry.text) && [...thread.live].some(isOpen)) {
    thread.assents.set(entry.id, entry);
    return;
  }
  if (run?.modelRun === undefined || run.stopped) {
    thread.pending.set(entry.id, { entry, stopped: false });
    return;
  }
  joinRun(thread, run, run.modelRun, entry);
}

function applyNotice(thread: Thread, entry: Entry<"notice">): void {
  if (entry.parks === true) thread.parked = true;
  if (entry.answers !== undefined) {
    forget(thread, entry.answers);
    refuseReply(thread, entry.answers);
  }
  if (entry.instead !== undefined) thread.assents.delete(entry.instead);
  if (entry.warns !== undefined) markWarned(thread, entry.warns);
  const waiting = entry.waitsFor === undefined ? undefined : findCall(thread, entry.waitsFor);
  if (waiting !== undefined) waiting.waits = true;
  keepOffer(thread, entry);
  if (entry.asks !== undefined) {
    const call = findCall(thread, entry.asks.call);
    if (call !== undefined) call.asked = entry;
  }
  thread.outbox.set(entry.id, {
    kind: "notice",
    id: entry.id,
    seq: entry.seq,
    notice: entry,
    views: new Set(thread.views),
  });
  const redrawn = thread.actions.get(entry.redraws ?? "");
  if (redrawn !== undefined) touch(thread, redrawn, entry);
}

/** Who wrote it may not answer the question; the next one who wrote since it was asked is taken at their word. */
function refuseReply(thread: Thread, id: string): void {
  const run = currentModelRun(thread);
  for (const call of run?.open.values() ?? []) {
    if (call.reply?.id !== id) continue;
    const since = call.asked?.seq ?? 0;
    const { modelRun } = run ?? {};
    const next = modelRun?.unseen.find(
      (message) =>
        message.seq > since &&
        run?.askers.has(message.actor.account) === true &&
        isAnswer(call, message),
    );
    call.reply = next;
    if (modelRun !== undefined)
      modelRun.unseen = modelRun.unseen.filter((message) => message !== next);
  }
}

function isRunning(call: Call): boolean {
  return call.started !== undefined && call.finished === undefined;
}

/** Posted by a person, not by a clock or another worker. */
function isPerson({ kind }: Entry): boolean {
  return kind === "message" || kind === "command" || kind === "click" || kind === "stop";
}

function stop(thread: Thread, entry: Entry<"stop">): void {
  const { id } = entry;
  const runs = [...thread.going];
  const written = runs
    .flatMap((run) => [...run.open.values()])
    .filter((call) => call.started?.effect !== "read" && isRunning(call));
  if (runs.length === 0 && thread.pending.size === 0) {
    thread.dueNotices.set(id, { id, to: entry.actor.account, about: { kind: "nothing_runs" } });
  } else if (written.length > 0) {
    const tools = written.map((call) => call.tool);
    thread.dueNotices.set(id, { id, about: { kind: "stopping", tools } });
  }
  const stoppable = [...thread.pending.values(), ...runs].filter(({ stopped }) => !stopped);
  for (const each of stoppable) {
    each.stopped = true;
    each.stoppedBy = entry.actor.name;
  }
  for (const action of thread.live) {
    if (!isOpen(action)) continue;
    close(action, "cancelled", entry.actor.name);
    touch(thread, action, entry);
  }
}

function expire(thread: Thread, entry: Entry<"timer">): void {
  const action = thread.actions.get(entry.action);
  if (action === undefined || !isOpen(action)) return;
  close(action, "expired");
  touch(thread, action, entry);
}

function startRun(thread: Thread, started: Entry<"run_started">): void {
  let stopped = false;
  let stoppedBy: string | undefined;
  let chooses: string | undefined;
  const authors: Actor[] = [];
  for (const id of started.answers) {
    const pending = thread.pending.get(id);
    if (pending !== undefined) authors.push(pending.entry.actor);
    stopped ||= pending?.stopped ?? false;
    stoppedBy ??= pending?.stoppedBy;
    const command = pending?.entry.kind === "command" ? pending.entry.command : undefined;
    if (command?.name === "model") chooses = command.model;
    thread.pending.delete(id);
  }
  const run: Run = {
    started,
    calls: new Map(),
    open: new Map(),
    modelRun:
      started.talk &&
      openModelRun(started.talk, { uses: thread.counts.uses, evidence: thread.evidence }),
    progressMessages: new Map(),
    authors,
    askers: new Set(authors.map(({ account }) => account)),
    principals: new Set(started.principals),
    chooses,
    stopped,
    stoppedBy,
    ended: undefined,
  };
  for (const asked of started.calls) addCall(run, { ...asked, problem: undefined }, started.at);
  thread.runs.set(started.run, run);
  thread.going.add(run);
  thread.counts.runs += 1;
  if (started.talk?.brief === true) thread.tooMuch = false;
}

/** A turn that came after the run's end, because both were on their way, changes nothing any more. */
function answerBy(thread: Thread, entry: Entry<"assistant">): void {
  const run = thread.runs.get(entry.run);
  if (run?.modelRun === undefined || run.ended !== undefined) return;
  instructBy(run, run.modelRun, entry);
  applyAssistant(run.modelRun, entry);
  for (const use of run.modelRun.turn) addCall(run, use, entry.at);
  thread.counts.uses = run.modelRun.uses;
}

/** Those whose words the request told as instructions ask for what comes of it; versions before this one told everybody's so. */
function instructBy({ principals }: Run, { unseen }: ModelRun, entry: Entry<"assistant">): void {
  const { instructs, seen } = entry;
  if (instructs !== undefined) principals.clear();
  const told = unseen.flatMap(({ seq, actor }) => (seq <= seen ? [actor.account] : []));
  for (const account of instructs ?? told) principals.add(account);
}

/** Failures whose cause may stand in the thread, where every later request would meet it again. */
const TOO_MUCH: ReadonlySet<string> = new Set([
  "MODEL_CONTEXT_TOO_LONG",
  "MODEL_CONTENT_UNSUPPORTED",
  "MODEL_FILTERED",
  "MODEL_REQUEST_INVALID",
]);

function endRun(thread: Thread, ended: Entry<"run_ended">): void {
  const run = thread.runs.get(ended.run);
  if (run === undefined || run.ended !== undefined) return;
  run.ended = ended;
  thread.going.delete(run);
  // What it waited for is over: a word about agreeing to it would come too late.
  thread.assents.clear();
  if (ended.status === "completed") thread.model = run.chooses ?? thread.model;
  if (ended.error !== undefined && TOO_MUCH.has(ended.error)) thread.tooMuch = true;
  // What the model has not seen is answered by the next run, unless all of it was stopped.
  for (const entry of ended.status === "cancelled" ? [] : (run.modelRun?.unseen ?? [])) {
    thread.pending.set(entry.id, { entry, stopped: false });
  }
  const { id, seq } = ended;
  thread.outbox.set(id, { kind: "answer", id, seq, run, views: new Set(thread.views) });
}

/** The message in which the run's progress is shown, until its answer stands there. */
function beginMessage(thread: Thread, { view, entry, ref, seq }: Entry<"delivered">): void {
  thread.newest = seq;
  for (const run of thread.runs.values())
    if (entryId.runEnded(run.started.run) === entry) run.progressMessages.set(view, { ref, seq });
}

function acknowledge(thread: Thread, delivered: Entry<"delivered">): void {
  const { view, entry, ref, seq } = delivered;
  if (showOffer(thread, delivered)) return;
  const debt = thread.outbox.get(entry);
  if (debt !== undefined) {
    if (ref !== "") thread.newest = seq;
    debt.views.delete(view);
    if (debt.views.size > 0) return;
    thread.outbox.delete(entry);
    if (debt.kind === "answer") thread.runs.delete(debt.run.started.run);
    return;
  }
  const card = readCardState(entry);
  const action = thread.actions.get(card.action);
  if (action === undefined) return;
  if (action.shown.get(view)?.ref !== ref) thread.newest = seq;
  action.shown.set(view, { ref, seq: card.seq });
  const current = thread.views.every((v) => (action.shown.get(v)?.seq ?? 0) >= action.touched);
  if (isOver(action) && current) leave(thread, action);
}
