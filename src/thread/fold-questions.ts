import type { Entry } from "../core/entry.ts";
import { isHolding } from "./assent.ts";
import { MAX_ANSWERED, forgetOldest } from "./fold-memory.ts";
import {
  type Call,
  type UntoldFact,
  type QuestionEnd,
  type Run,
  type Thread,
  askerIn,
  currentModelRun,
} from "./state.ts";

/** Questions of the model's: who answers them, and how they end. */

/**
 * A message answers the question when who began the run wrote it, unless they only say that they need time. Others press
 * a choice or type `answer …`. Whose message is no answer is told so, alone and once.
 */
export function applyReply(thread: Thread, run: Run, message: Entry<"message">): boolean {
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
