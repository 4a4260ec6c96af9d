import type { Actor, Entry } from "../core/entry.ts";
import { estimateTokens } from "../core/block.ts";
import { isOpen } from "./action.ts";
import { isAssent, isHolding } from "./assent.ts";
import { untoldId } from "./entry-ids.ts";
import { type ModelRun, steer } from "./model-run.ts";
import {
  askerIn,
  type Call,
  currentModelRun,
  type QuestionEnd,
  type Run,
  type Thread,
  type UntoldFact,
} from "./state.ts";
import { forgetOldest, MAX_ANSWERED } from "./fold-memory.ts";

export function applyName({ names }: Thread, { actor }: { actor: Actor }): void {
  names.set(actor.account, actor.name);
}

export function applyMessage(thread: Thread, entry: Entry<"message">): void {
  applyName(thread, entry);
  applyVoice(thread, entry.actor.account, entry);
  thread.newest = entry.seq;
  thread.requestTokens += estimateTokens(entry.text);
  tellFiles(thread, entry);
  passOn(thread, entry);
}

/**
 * A message answers the question that waits for its author, or joins the run that goes on; else it waits for a run of its
 * own. While an action of the run is open nothing can be said to it, and its author is told so. One that only agrees
 * with an open action is no word to a model: its author is told what to press.
 */
function passOn(thread: Thread, entry: Entry<"message">): void {
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

/** The message instructs the run that goes on; where an open action holds it up, its author is told. */
export function joinRun(
  thread: Thread,
  run: Run,
  modelRun: ModelRun,
  message: Entry<"message">,
): void {
  const { account } = message.actor;
  steer(modelRun, message, run.started.principals.includes(account));
  tellHeld(thread, run, message, message.id);
}

/** From here on the account's words are part of what models are told. */
export function applyVoice({ voices }: Thread, account: string, { seq }: Entry): void {
  if (!voices.has(account)) voices.set(account, seq);
}

/** The message waits for the run's open actions: its author is told alone, and once for each action. */
export function tellHeld(thread: Thread, run: Run, { actor }: Entry<"message">, id: string): void {
  const { account } = actor;
  const open = [...thread.live].filter(
    (action) => isOpen(action) && action.run === run.started.run,
  );
  if (open.length === 0 || open.some(({ told }) => told.has(account))) return;
  for (const { told } of open) told.add(account);
  const actions = open.map(({ action }) => action);
  thread.untold.set(id, { id, to: account, about: { kind: "held", actions } });
}

/** What of a message is not as its author sent it: files that were not read, and a text so long that it became a file. */
function tellFiles(thread: Thread, message: Entry<"message">): void {
  const { id, actor, files = [], unread = [], wholeBytes } = message;
  const [pasted] = files;
  if (wholeBytes !== undefined && pasted !== undefined) {
    const about = { kind: "pasted", file: pasted.name, bytes: wholeBytes } as const;
    const due = untoldId.pasted(id);
    thread.untold.set(due, { id: due, to: actor.account, about });
  }
  if (unread.length === 0) return;
  const due = untoldId.unread(id);
  thread.untold.set(due, { id: due, about: { kind: "unread", files: unread } });
}

/**
 * A message answers the question when who began the run wrote it, unless they only say that they need time. Others press
 * a choice or type `answer …`. Whose message is no answer is told so, alone and once.
 */
function applyReply(thread: Thread, run: Run, message: Entry<"message">): boolean {
  const { account } = message.actor;
  for (const call of run.open.values()) {
    if (call.asked === undefined || call.reply !== undefined) continue;
    const isAsked = run.askers.has(account);
    if (isAsked && isAnswer(call, message)) {
      call.reply = message;
      return true;
    }
    if (call.told.has(account)) continue;
    call.told.add(account);
    const about: UntoldFact = isAsked
      ? { kind: "still_asking", call: call.call }
      : { kind: "asking_another", call: call.call, asker: askerIn(run)?.name };
    thread.untold.set(message.id, { id: message.id, to: account, about });
  }
  return false;
}

/** Who wrote it may not answer the question; the next one who wrote since it was asked is taken at their word. */
export function refuseReply(thread: Thread, id: string): void {
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

/** What somebody who was asked writes is the answer, unless they only say that they need time. A choice's own words are always one. */
function isAnswer({ asked }: Call, { text }: Pick<Entry<"message">, "text">): boolean {
  const said = text.trim().toLowerCase();
  const isChoice = asked?.asks?.choices.some((choice) => choice.toLowerCase() === said) === true;
  return isChoice || !isHolding(text);
}

export function answererOf(
  thread: Thread,
  call: Call,
  { answers }: Entry<"tool_finished">,
): Entry<"click"> | Entry<"message"> | undefined {
  const click = thread.clicks.get(answers ?? "");
  return click ?? (call.reply?.id === answers ? call.reply : undefined);
}

/** The question waits no longer. Call it before its click is forgotten. */
export function closeQuestion(thread: Thread, call: Call, entry: Entry<"tool_finished">): void {
  for (const { id, about } of thread.untold.values()) {
    const isOfQuestion = about.kind === "still_asking" || about.kind === "asking_another";
    if (isOfQuestion && about.call === call.call) thread.untold.delete(id);
  }
  thread.answered.set(call.call, endOf(thread, call, entry));
  forgetOldest(thread, thread.answered, MAX_ANSWERED, () => true);
}

function endOf(thread: Thread, call: Call, entry: Entry<"tool_finished">): QuestionEnd {
  const answer = answererOf(thread, call, entry);
  if (answer === undefined) {
    const outcome = entry.outcome === "ok" ? "answered" : entry.outcome;
    const isKnown = outcome === "answered" || outcome === "expired";
    return { outcome: isKnown ? outcome : "cancelled", text: entry.text, by: undefined };
  }
  const { choice, text } =
    answer.kind === "click" ? { ...answer, text: "" } : { ...answer, choice: undefined };
  const said = choice?.kind === "answer" ? choice.text : text;
  return { outcome: "answered", text: said, by: answer.actor.name };
}
