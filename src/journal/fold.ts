import {
  hearAssistant,
  hearGate,
  hearMessage,
  hearResult,
  openTalk,
  type Talk,
} from "../agent/talk.ts";
import {
  type Action,
  close,
  count,
  isOpen,
  isOver,
  openAction,
  revise,
} from "../approvals/action.ts";
import { addUsage, estimateTokens, totalTokens } from "../core/block.ts";
import type { Actor, Entry } from "../core/entry.ts";
import type { StoredEntry } from "./journal.ts";
import { answerIdOf, type Call, type Run, talkingRun, type Thread } from "./thread.ts";

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
    advance(thread, entry);
  }
  return thread;
}

function advance(thread: Thread, entry: Entry): void {
  if (isPerson(entry)) thread.parked = false;
  switch (entry.kind) {
    case "message":
      thread.newest = entry.seq;
      thread.requestTokens += estimateTokens(entry.text);
      hearPerson(thread, entry);
      return;
    case "command":
      thread.newest = entry.seq;
      thread.pending.set(entry.id, { entry, stopped: false });
      return;
    case "click":
      thread.clicks.set(entry.id, entry);
      return;
    case "stop":
      stop(thread, entry);
      return;
    case "timer":
      expire(thread, entry);
      return;
    case "signal":
      hear(thread, entry);
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
      const talk = thread.runs.get(entry.run)?.talk;
      if (talk !== undefined) hearGate(talk, entry);
      return;
    }
    case "incident":
      return; // in the ledger's journals, which are no threads
    case "view_added":
      if (!thread.views.includes(entry.view)) thread.views.push(entry.view);
      return;
    case "notice":
      if (entry.parks === true) thread.parked = true;
      if (entry.answers !== undefined) {
        forget(thread, entry.answers);
        refuseReply(thread, entry.answers);
      }
      if (entry.asks !== undefined) {
        const call = findCall(thread, entry.asks.call);
        if (call !== undefined) call.asked = entry;
      }
      thread.debts.set(entry.id, {
        kind: "notice",
        id: entry.id,
        seq: entry.seq,
        notice: entry,
        views: new Set(thread.views),
      });
      return;
    case "delivered":
      if (entry.stage === "final") discharge(thread, entry);
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

/**
 * A message answers the question that waits, or joins the run that goes on; else it waits for a run of its own. While an
 * action of the run is open nothing can be said to it, and people are told so.
 */
function hearPerson(thread: Thread, entry: Entry<"message">): void {
  const run = talkingRun(thread);
  if (run?.talk === undefined || run.stopped) {
    thread.pending.set(entry.id, { entry, stopped: false });
    return;
  }
  for (const call of run.open.values()) {
    if (call.asked === undefined || call.reply !== undefined) continue;
    call.reply = entry;
    return;
  }
  joinRun(thread, run, run.talk, entry);
}

function joinRun(thread: Thread, run: Run, talk: Talk, message: Entry<"message">): void {
  const { account } = message.actor;
  hearMessage(talk, message, run.started.principals.includes(account));
  run.principals.add(account);
  const holds = openActions(thread, run);
  if (holds.length > 0) tellHeld(thread, message.id, holds);
}

function openActions({ live }: Thread, { started }: Run): string[] {
  return [...live].flatMap((action) =>
    isOpen(action) && action.run === started.run ? [action.action] : [],
  );
}

function tellHeld(thread: Thread, id: string, holds: string[]): void {
  const text = `What you wrote waits until ${holds.join(", ")} is decided. Cancel it to have that answered now.`;
  thread.words.set(id, { id, text, holds });
}

/** Who wrote it may not answer the question; the next one who wrote since it was asked is taken at their word. */
function refuseReply(thread: Thread, id: string): void {
  const run = talkingRun(thread);
  for (const call of run?.open.values() ?? []) {
    if (call.reply?.id !== id) continue;
    const since = call.asked?.seq ?? 0;
    const { talk } = run ?? {};
    const next = talk?.unseen.find((message) => message.seq > since);
    call.reply = next;
    if (talk !== undefined) talk.unseen = talk.unseen.filter((message) => message !== next);
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
  const runs = [...thread.runs.values()].filter((run) => run.ended === undefined);
  const written = runs
    .flatMap((run) => [...run.open.values()])
    .filter((call) => call.started?.effect !== "read" && isRunning(call));
  if (runs.length === 0 && thread.pending.size === 0) {
    thread.words.set(id, { id, text: "Nothing was running." });
  } else if (written.length > 0) {
    const names = written.map((call) => call.tool).join(", ");
    const text = `Stopping. ${names} is changing something right now: it is waited for, since cut short its outcome would be unknown.`;
    thread.words.set(id, { id, text });
  }
  for (const pending of thread.pending.values()) pending.stopped = true;
  for (const run of thread.runs.values()) if (run.ended === undefined) run.stopped = true;
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
  let chooses: string | undefined;
  let asker: Actor | undefined;
  for (const id of started.answers) {
    const pending = thread.pending.get(id);
    asker ??= pending?.entry.actor;
    stopped ||= pending?.stopped ?? false;
    const command = pending?.entry.kind === "command" ? pending.entry.command : undefined;
    if (command?.name === "model") chooses = command.model;
    thread.pending.delete(id);
  }
  const run: Run = {
    started,
    calls: new Map(),
    open: new Map(),
    talk:
      started.talk &&
      openTalk(started.talk, { uses: thread.counts.uses, evidence: thread.evidence }),
    begun: new Map(),
    asker,
    principals: new Set(started.principals),
    chooses,
    stopped,
    ended: undefined,
  };
  for (const asked of started.calls) addCall(run, { ...asked, problem: undefined });
  thread.runs.set(started.run, run);
  thread.counts.runs += 1;
  if (started.talk?.brief === true) thread.tooMuch = false;
}

function addCall(
  run: Run,
  { call, tool, args, problem }: Pick<Call, "call" | "tool" | "args" | "problem">,
): void {
  const added: Call = {
    run: run.started.run,
    call,
    tool,
    args,
    problem,
    asked: undefined,
    reply: undefined,
    action: undefined,
    started: undefined,
    finished: undefined,
    word: undefined,
    settled: undefined,
  };
  run.calls.set(call, added);
  run.open.set(call, added);
}

/** A turn that came after the run's end, because both were on their way, changes nothing any more. */
function answerBy(thread: Thread, entry: Entry<"assistant">): void {
  const run = thread.runs.get(entry.run);
  if (run?.talk === undefined || run.ended !== undefined) return;
  hearAssistant(run.talk, entry);
  for (const use of run.talk.turn) addCall(run, use);
  thread.counts.uses = run.talk.uses;
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
  if (ended.status === "completed") thread.model = run.chooses ?? thread.model;
  if (ended.error !== undefined && TOO_MUCH.has(ended.error)) thread.tooMuch = true;
  // What the model has not seen is answered by the next run, unless all of it was stopped.
  for (const entry of ended.status === "cancelled" ? [] : (run.talk?.unseen ?? [])) {
    thread.pending.set(entry.id, { entry, stopped: false });
  }
  const { id, seq } = ended;
  thread.debts.set(id, { kind: "answer", id, seq, run, views: new Set(thread.views) });
}

function advanceAction(
  thread: Thread,
  entry: Entry<"action_proposed"> | Entry<"vote"> | Entry<"action_closed">,
): void {
  let action = thread.actions.get(entry.action);
  if (entry.kind === "action_proposed") {
    const editor = thread.clicks.get(entry.click ?? "")?.actor.account;
    if (entry.click !== undefined) forget(thread, entry.click);
    if (action === undefined) {
      action = openAction(entry);
      thread.actions.set(entry.action, action);
      thread.counts.actions += 1;
      const run = thread.runs.get(entry.run);
      const call = run?.calls.get(entry.call);
      if (call !== undefined) call.action = action;
      // What was written while the model still thought waits from here on.
      const unseen = run?.talk?.unseen.at(-1);
      const isHeldAnew = run !== undefined && openActions(thread, run).length === 0;
      if (unseen !== undefined && isHeldAnew) {
        tellHeld(thread, `${unseen.id}@${entry.action}`, [entry.action]);
      }
    } else revise(action, entry, editor);
  } else if (action === undefined) return;
  else if (entry.kind === "vote") {
    forget(thread, entry.click);
    count(action, entry);
  } else {
    if (entry.click !== undefined) forget(thread, entry.click);
    close(action, entry.outcome, entry.by, entry.reason);
    if (action.closed !== undefined) action.closed.recorded = true;
    const call = thread.runs.get(action.run)?.calls.get(action.call);
    // Void: what was approved is no longer what would run. The call is asked about anew, by another action.
    if (entry.outcome === "void" && call?.action === action) call.action = undefined;
  }
  touch(thread, action, entry);
}

function advanceCall(
  thread: Thread,
  entry: Entry<"tool_started"> | Entry<"tool_finished"> | Entry<"settled">,
): void {
  const call = findCall(thread, entry.call);
  if (call === undefined) return;
  if (entry.kind === "tool_started") {
    call.started = entry;
    thread.counts.calls += 1;
  } else if (entry.kind === "tool_finished") {
    finish(thread, call, entry);
    if (entry.outcome === "unknown") {
      thread.unknown.set(call.call, call);
      if (call.word !== undefined) tellWord(thread, call, call.word);
    }
  } else {
    forget(thread, entry.click);
    call.settled = entry;
    // With an action its card shows it.
    if (call.action === undefined) {
      const word = entry.happened ? "it happened" : "it did not happen";
      thread.words.set(entry.id, {
        id: entry.id,
        text: `${call.call} settled by ${entry.name}: ${word}.`,
      });
    }
  }
  if (call.action === undefined) return;
  if (entry.kind === "tool_started") call.action.started = true;
  else if (entry.kind === "tool_finished") call.action.finished = entry;
  else call.action.settled = entry;
  touch(thread, call.action, entry);
}

function finish(thread: Thread, call: Call, entry: Entry<"tool_finished">): void {
  call.finished = entry;
  thread.counts.toolMs += entry.ms ?? 0;
  const run = thread.runs.get(call.run);
  run?.open.delete(call.call);
  if (entry.answers !== undefined) {
    // Who answers a question instructs what follows from it.
    const { actor } = thread.clicks.get(entry.answers) ?? call.reply ?? {};
    if (actor !== undefined) run?.principals.add(actor.account);
    forget(thread, entry.answers);
  }
  // A reply that a click overtook is a message like any other: it instructs the run.
  if (run?.talk !== undefined && call.reply !== undefined && call.reply.id !== entry.answers) {
    joinRun(thread, run, run.talk, call.reply);
  }
  if (run?.talk === undefined) return;
  const { tool, args, action, started } = call;
  const { outcome, text } = entry;
  if (outcome === "ok" || outcome === "error" || outcome === "unknown") {
    const changed = outcome === "ok" && started !== undefined && started.effect !== "read";
    thread.evidence.set(Number(call.call.slice(call.call.lastIndexOf(".t") + 2)), changed);
  }
  thread.requestTokens += estimateTokens(text);
  const shown = action?.proposal.args;
  hearResult(run.talk, { tool, args, shown, outcome, text }, entry.ms ?? 0);
}

function findCall(thread: Thread, call: string): Call | undefined {
  return (
    thread.runs.get(call.slice(0, call.indexOf(".")))?.calls.get(call) ?? thread.unknown.get(call)
  );
}

/** A late word counts only for an outcome that is, or is then declared, unknown. */
function hear(thread: Thread, word: Entry<"signal">): void {
  const call = findCall(thread, word.call);
  if (call === undefined || call.started === undefined) return;
  call.word = word;
  if (call.finished?.outcome === "unknown") tellWord(thread, call, word);
}

function tellWord(thread: Thread, call: Call, { id, outcome, text }: Entry<"signal">): void {
  const ref = call.action?.action ?? call.call;
  const said = `Late word on ${ref} from the worker that ran it: ${outcome}. ${text}`;
  const settles = call.settled === undefined ? { settles: ref } : {};
  thread.words.set(id, { id, text: said, ...settles });
}

/** A click or late word has had its answer. */
function forget(thread: Thread, id: string): void {
  thread.clicks.delete(id);
  thread.words.delete(id);
}

function touch(thread: Thread, action: Action, { seq }: Entry): void {
  action.touched = seq;
  thread.live.add(action);
}

/** The message in which the run's progress is shown, until its answer stands there. */
function beginMessage(thread: Thread, { view, entry, ref, seq }: Entry<"delivered">): void {
  thread.newest = seq;
  for (const run of thread.runs.values())
    if (answerIdOf(run) === entry) run.begun.set(view, { ref, seq });
}

function discharge(thread: Thread, { view, entry, ref, seq }: Entry<"delivered">): void {
  const debt = thread.debts.get(entry);
  if (debt !== undefined) {
    thread.newest = seq;
    debt.views.delete(view);
    if (debt.views.size > 0) return;
    thread.debts.delete(entry);
    if (debt.kind === "answer") thread.runs.delete(debt.run.started.run);
    return;
  }
  const [id = "", upTo = ""] = entry.split("@"); // a card: `<action>@<seq up to which it is shown>`
  const action = thread.actions.get(id);
  if (action === undefined) return;
  if (action.shown.get(view)?.ref !== ref) thread.newest = seq;
  action.shown.set(view, { ref, seq: Number(upTo) });
  const current = thread.views.every((v) => (action.shown.get(v)?.seq ?? 0) >= action.touched);
  if (isOver(action) && current) thread.live.delete(action);
}
