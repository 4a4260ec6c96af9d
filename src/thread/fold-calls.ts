import { dueId, numberOfCall, runOfCall } from "./entry-ids.ts";
import { applyMessage, applyResult, type ModelRun } from "./model-run.ts";
import { type Action, close, count, openAction, revise } from "./action.ts";
import { isMapped } from "../core/people.ts";
import { estimateTokens } from "../core/block.ts";
import type { Entry } from "../core/entry.ts";
import { answererOf, closeQuestion, tellHeld } from "./fold-notices.ts";
import type { Call, Run, Thread } from "./state.ts";

/** The message instructs the run that goes on; where an open action holds it up, its author is told. */
export function joinRun(
  thread: Thread,
  run: Run,
  modelRun: ModelRun,
  message: Entry<"message">,
): void {
  const { account } = message.actor;
  applyMessage(modelRun, message, run.started.principals.includes(account));
  tellHeld(thread, run, message, message.id);
}

/** From here on the account's words are part of what models are told. */
export function applyVoice({ voices }: Thread, account: string, { seq }: Entry): void {
  if (!voices.has(account)) voices.set(account, seq);
}

/** A call that was asked for and has no result yet. */
export function addCall(
  run: Run,
  { call, tool, args, problem }: Pick<Call, "call" | "tool" | "args" | "problem">,
  askedAt: number,
): void {
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
    warned: false,
    waits: false,
    action: undefined,
    started: undefined,
    finished: undefined,
    word: undefined,
    settled: undefined,
  };
  run.calls.set(call, added);
  run.open.set(call, added);
}

/** An action is proposed or revised, voted on, or closed. */
export function advanceAction(
  thread: Thread,
  entry: Entry<"action_proposed"> | Entry<"vote"> | Entry<"action_closed">,
): void {
  let action = thread.actions.get(entry.action);
  if (entry.kind === "action_proposed") {
    thread.host = entry.host ?? thread.host;
    const editor = thread.clicks.get(entry.click ?? "")?.actor.account;
    if (entry.click !== undefined) forget(thread, entry.click);
    if (editor !== undefined) applyVoice(thread, editor, entry);
    const proposal = withAccounts(thread, entry);
    if (action === undefined) {
      const run = thread.runs.get(entry.run);
      action = openAction(proposal, run?.principals ?? []);
      thread.actions.set(entry.action, action);
      thread.counts.actions += 1;
      const call = run?.calls.get(entry.call);
      if (call !== undefined) call.action = action;
      thread.live.add(action);
      // What was written while the model still thought waits from here on.
      for (const message of run?.modelRun?.unseen ?? []) {
        if (run !== undefined) tellHeld(thread, run, message, dueId.held(message.id, entry.action));
      }
    } else revise(action, proposal, editor);
    action.barred = [...new Set(entry.barred.map((person) => nameOf(thread, person)))];
  } else if (action === undefined) return;
  else if (entry.kind === "vote") {
    forget(thread, entry.click);
    // The model is told why somebody denied.
    if (entry.reason !== undefined) applyVoice(thread, entry.account, entry);
    count(action, entry);
  } else {
    if (entry.click !== undefined) forget(thread, entry.click);
    close(action, entry.outcome, entry.by, entry.reason);
    if (action.closed !== undefined) action.closed.recorded = true;
    const call = thread.runs.get(action.run)?.calls.get(action.call);
    // Void: what was approved is no longer what would run. The call is asked about again, by another action.
    if (entry.outcome === "void" && call?.action === action) call.action = undefined;
  }
  touch(thread, action, entry);
}

/** A person that `people:` names, or an account by what it was called when it wrote here. */
function nameOf({ names }: Thread, person: string): string {
  return person.startsWith("person:") ? person.slice(7) : (names.get(person) ?? person);
}

/** Versions before this one barred people, who may have another name or none by now: their accounts are barred with them. */
function withAccounts(
  { runs, voices }: Thread,
  entry: Entry<"action_proposed">,
): Entry<"action_proposed"> {
  if (!entry.barred.some(isMapped)) return entry;
  const principals = runs.get(entry.run)?.principals ?? [];
  const accounts = [...principals, ...voices.keys()];
  return { ...entry, barred: [...new Set([...entry.barred, ...accounts])] };
}

/** A call is started, ends, or is settled by a person. */
export function advanceCall(
  thread: Thread,
  entry: Entry<"tool_started"> | Entry<"tool_finished"> | Entry<"settled">,
): void {
  const call = findCall(thread, entry.call);
  if (call === undefined) return;
  if (entry.kind === "tool_started") {
    call.started = entry;
    thread.host = entry.host ?? thread.host;
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
    forgetOldest(thread, thread.unknown, MAX_PAST, (each) => each.settled !== undefined);
    // With an action its card shows it.
    if (call.action === undefined) {
      const { id, name: by, happened } = entry;
      const about = { kind: "settled", call: call.call, by, happened } as const;
      thread.dueNotices.set(id, { id, about });
    }
  }
  if (call.action === undefined) return;
  if (entry.kind === "tool_started") call.action.started = true;
  else if (entry.kind === "tool_finished")
    call.action.finished = { outcome: entry.outcome, ms: entry.ms };
  else call.action.settled = entry;
  touch(thread, call.action, entry);
}

function finish(thread: Thread, call: Call, entry: Entry<"tool_finished">): void {
  call.finished = entry;
  thread.counts.toolMs += entry.ms ?? 0;
  const run = thread.runs.get(call.run);
  run?.open.delete(call.call);
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
    if (run?.modelRun !== undefined) {
      run.modelRun.unseen = run.modelRun.unseen.filter(({ id }) => id !== entry.answers);
    }
  }
  // A reply that a click overtook is a message like any other: it instructs the run.
  if (run?.modelRun !== undefined && call.reply !== undefined && call.reply.id !== entry.answers) {
    joinRun(thread, run, run.modelRun, call.reply);
  }
  if (run?.modelRun === undefined) return;
  const { tool, args, action, started } = call;
  const { outcome, text } = entry;
  if (outcome === "ok" || outcome === "error" || outcome === "unknown") {
    const isChange = started !== undefined && started.effect !== "read";
    const well = isChange ? "changed" : "ok";
    const cameTo = outcome === "ok" ? well : outcome === "error" ? "failed" : "unknown";
    forgetOldest(thread, thread.evidence, MAX_EVIDENCE - 1, () => true);
    thread.evidence.set(numberOfCall(call.call), cameTo);
  }
  thread.requestTokens += estimateTokens(text);
  const shown = action?.proposal.args;
  applyResult(run.modelRun, { tool, args, shown, outcome, text }, entry.ms ?? 0);
}

/** Also a call whose run is over, as long as its outcome is unknown. */
export function findCall(thread: Thread, call: string): Call | undefined {
  return thread.runs.get(runOfCall(call))?.calls.get(call) ?? thread.unknown.get(call);
}

/** A late word counts only for an outcome that is, or is then declared, unknown. */
export function applyLateWord(thread: Thread, word: Entry<"signal">): void {
  const call = findCall(thread, word.call);
  if (call === undefined || call.started === undefined) return;
  call.word = word;
  if (call.finished?.outcome === "unknown") tellWord(thread, call, word);
}

function tellWord(thread: Thread, call: Call, { id, outcome, text }: Entry<"signal">): void {
  const ref = call.action?.action ?? call.call;
  const isSettled = call.settled !== undefined;
  thread.dueNotices.set(id, { id, about: { kind: "late", ref, outcome, text, isSettled } });
}

/** A click or late word has had its answer. */
export function forget(thread: Thread, id: string): void {
  thread.clicks.delete(id);
  thread.dueNotices.delete(id);
}

/** What the card shows has changed: every view is owed it again, also one that was forgotten. */
export function touch(thread: Thread, action: Action, { seq }: Entry): void {
  action.touched = seq;
  thread.live.add(action);
  thread.actions.set(action.action, action);
}

/** Actions and unknown outcomes of a thread that are over and still remembered, for who presses or speaks late. */
const MAX_PAST = 20;
/** Calls that an answer can cite: more than a model's context holds. */
const MAX_EVIDENCE = 1_000;

/** The action is over, and every view shows it so. */
export function leave(thread: Thread, action: Action): void {
  thread.live.delete(action);
  forgetOldest(thread, thread.actions, MAX_PAST, (each) => !thread.live.has(each));
}

/** Keeps at most so many of those that may go. */
function forgetOldest<V>(
  { keepsAll }: Thread,
  from: Map<unknown, V>,
  most: number,
  mayGo: (value: V) => boolean,
): void {
  if (keepsAll || from.size <= most) return;
  const past = [...from].filter(([, value]) => mayGo(value));
  for (const [key] of past.slice(0, Math.max(0, past.length - most))) from.delete(key);
}
