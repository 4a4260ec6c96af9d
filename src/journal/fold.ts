import {
  type Action,
  close,
  count,
  isOpen,
  isOver,
  openAction,
  revise,
} from "../approvals/action.ts";
import type { Entry, JsonObject, NewerEntry } from "../core/entry.ts";
import type { StoredEntry } from "./journal.ts";

/** One tool call of a run. */
export interface Call {
  readonly run: string;
  readonly call: string;
  readonly tool: string;
  /** As asked for; what is executed is the action's or `tool_started`'s. */
  readonly args: JsonObject;
  action: Action | undefined;
  started: Entry<"tool_started"> | undefined;
  finished: Entry<"tool_finished"> | undefined;
  /** What a worker that had lost its lease said of the outcome. */
  word: Entry<"signal"> | undefined;
  settled: Entry<"settled"> | undefined;
}

export interface Run {
  readonly started: Entry<"run_started">;
  readonly calls: Map<string, Call>;
  /** A Stop came after it began and before it ended. */
  stopped: boolean;
  ended: Entry<"run_ended"> | undefined;
}

/** A message or command that no run has taken up. */
export interface Pending {
  entry: Entry<"message"> | Entry<"command">;
  stopped: boolean;
}

/** Something the thread has yet to be told; the notice that tells it answers `id`. */
export interface Word {
  id: string;
  text: string;
  /** The action or call that a person is asked to settle. */
  settles?: string;
}

/** Something that views have yet to show. */
export type Debt =
  | { kind: "answer"; id: string; seq: number; run: Run; views: Set<string> }
  | { kind: "notice"; id: string; seq: number; notice: Entry<"notice">; views: Set<string> };

/** The view that a journal's key itself names; others come by `view_added`. */
export const MAIN_VIEW = "main";

/**
 * What a prefix of a thread's journal means. It holds what is open: ended and delivered runs are dropped, so it stays
 * small however long the journal is.
 */
export interface Thread {
  last: number;
  /** A newer program's entry: nothing after it is folded, and nothing may be decided here. */
  newer: NewerEntry | undefined;
  views: string[];
  /** Its work crashed twice, and nobody has written since. */
  parked: boolean;
  pending: Map<string, Pending>;
  /** Clicks that nothing has answered yet, in the order posted. */
  clicks: Map<string, Entry<"click">>;
  words: Map<string, Word>;
  runs: Map<string, Run>;
  actions: Map<string, Action>;
  /** The actions that are not over, or whose end some view has yet to show. */
  live: Set<Action>;
  debts: Map<string, Debt>;
  /** Calls that ended unknown, settled ones too: a late word on them may still come. */
  unknown: Map<string, Call>;
  counts: { runs: number; actions: number; calls: number; toolMs: number };
}

export function emptyThread(): Thread {
  return {
    last: 0,
    newer: undefined,
    views: [MAIN_VIEW],
    parked: false,
    pending: new Map(),
    clicks: new Map(),
    words: new Map(),
    runs: new Map(),
    actions: new Map(),
    live: new Set(),
    debts: new Map(),
    unknown: new Map(),
    counts: { runs: 0, actions: 0, calls: 0, toolMs: 0 },
  };
}

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
    case "command":
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
    case "view_added":
      if (!thread.views.includes(entry.view)) thread.views.push(entry.view);
      return;
    case "notice":
      if (entry.parks === true) thread.parked = true;
      if (entry.answers !== undefined) forget(thread, entry.answers);
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

function isRunning(call: Call): boolean {
  return call.started !== undefined && call.finished === undefined;
}

/** Posted by a person, not by a clock or another worker. */
function isPerson({ kind }: Entry): boolean {
  return kind === "message" || kind === "command" || kind === "click" || kind === "stop";
}

function stop(thread: Thread, entry: Entry<"stop">): void {
  const { id } = entry;
  const calls = [...thread.runs.values()].flatMap((run) =>
    run.ended ? [] : [...run.calls.values()],
  );
  const written = calls.filter((call) => call.started?.effect !== "read" && isRunning(call));
  if (calls.length === 0 && thread.pending.size === 0) {
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
  const calls = new Map<string, Call>();
  for (const { call, tool, args } of started.calls) {
    calls.set(call, {
      run: started.run,
      call,
      tool,
      args,
      action: undefined,
      started: undefined,
      finished: undefined,
      word: undefined,
      settled: undefined,
    });
  }
  let stopped = false;
  for (const id of started.answers) {
    stopped ||= thread.pending.get(id)?.stopped ?? false;
    thread.pending.delete(id);
  }
  thread.runs.set(started.run, { started, calls, stopped, ended: undefined });
  thread.counts.runs += 1;
}

function endRun(thread: Thread, ended: Entry<"run_ended">): void {
  const run = thread.runs.get(ended.run);
  if (run === undefined || run.ended !== undefined) return;
  run.ended = ended;
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
      const call = thread.runs.get(entry.run)?.calls.get(entry.call);
      if (call !== undefined) call.action = action;
    } else revise(action, entry, editor);
  } else if (action === undefined) return;
  else if (entry.kind === "vote") {
    forget(thread, entry.click);
    count(action, entry);
  } else {
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
    call.finished = entry;
    thread.counts.toolMs += entry.ms ?? 0;
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

function discharge(thread: Thread, { view, entry, ref }: Entry<"delivered">): void {
  const debt = thread.debts.get(entry);
  if (debt !== undefined) {
    debt.views.delete(view);
    if (debt.views.size > 0) return;
    thread.debts.delete(entry);
    if (debt.kind === "answer") thread.runs.delete(debt.run.started.run);
    return;
  }
  const [id = "", seq = ""] = entry.split("@"); // a card: `<action>@<seq up to which it is shown>`
  const action = thread.actions.get(id);
  if (action === undefined) return;
  action.shown.set(view, { ref, seq: Number(seq) });
  const current = thread.views.every((v) => (action.shown.get(v)?.seq ?? 0) >= action.touched);
  if (isOver(action) && current) thread.live.delete(action);
}
