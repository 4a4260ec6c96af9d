import { dueId, readPastState, runOfCall } from "./entry-ids.ts";
import { isOpen } from "./action.ts";
import type { Entry } from "../core/entry.ts";
import { isHolding } from "./assent.ts";
import {
  askerIn,
  type Call,
  type DueFact,
  type Offer,
  type QuestionEnd,
  type Run,
  type Thread,
} from "./state.ts";

/** Questions whose end is remembered for those who press later. */
const MAX_ANSWERED = 50;

/** The message waits for the run's open actions: its author is told alone, and once for each action. */
export function tellHeld(thread: Thread, run: Run, { actor }: Entry<"message">, id: string): void {
  const { account } = actor;
  const open = [...thread.live].filter(
    (action) => isOpen(action) && action.run === run.started.run,
  );
  if (open.length === 0 || open.some(({ told }) => told.has(account))) return;
  for (const { told } of open) told.add(account);
  const actions = open.map(({ action }) => action);
  thread.dueNotices.set(id, { id, to: account, about: { kind: "held", actions } });
}

/** What of a message is not as its author sent it: files that were not read, and a text so long that it became a file. */
export function tellFiles(thread: Thread, message: Entry<"message">): void {
  const { id, actor, files = [], unread = [], wholeBytes } = message;
  const [pasted] = files;
  if (wholeBytes !== undefined && pasted !== undefined) {
    const about = { kind: "pasted", file: pasted.name, bytes: wholeBytes } as const;
    const due = dueId.pasted(id);
    thread.dueNotices.set(due, { id: due, to: actor.account, about });
  }
  if (unread.length === 0) return;
  const due = dueId.unread(id);
  thread.dueNotices.set(due, { id: due, about: { kind: "unread", files: unread } });
}

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
    const about: DueFact = isAsked
      ? { kind: "still_asking", call: call.call }
      : { kind: "asking_another", call: call.call, asker: askerIn(run)?.name };
    thread.dueNotices.set(message.id, { id: message.id, to: account, about });
  }
  return false;
}

/** What somebody who was asked writes is the answer, unless they only say that they need time. A choice's own words are always one. */
export function isAnswer({ asked }: Call, { text }: Pick<Entry<"message">, "text">): boolean {
  const said = text.trim().toLowerCase();
  const isChoice = asked?.asks?.choices.some((choice) => choice.toLowerCase() === said) === true;
  return isChoice || !isHolding(text);
}

/** The click or message that answered a question. */
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
  for (const { id, about } of thread.dueNotices.values()) {
    const isOfQuestion = about.kind === "still_asking" || about.kind === "asking_another";
    if (isOfQuestion && about.call === call.call) thread.dueNotices.delete(id);
  }
  thread.answered.set(call.call, endOf(thread, call, entry));
  for (const oldest of thread.answered.keys()) {
    if (thread.answered.size <= MAX_ANSWERED) return;
    thread.answered.delete(oldest);
  }
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

/** Keeps a notice that will have to change or go. */
export function keepOffer({ offers, views }: Thread, notice: Entry<"notice">): void {
  const { asks, settles, holds, approves, confirms, warns } = notice;
  const isOffer = [asks, settles, holds, approves, confirms, warns].some((of) => of !== undefined);
  if (isOffer) offers.set(notice.id, { notice, shown: new Map(), open: new Set(views) });
}

/** True once what the notice is about waits no longer. */
export function isPast(
  { actions, runs, unknown, answered }: Thread,
  { notice }: Pick<Offer, "notice">,
): boolean {
  const { asks, settles, holds = [], approves = [], confirms, warns } = notice;
  if (asks !== undefined) return answered.has(asks.call) || !isOpenCall(runs, asks.call);
  if (settles !== undefined) {
    return ![...unknown.values()].some(
      (call) => call.settled === undefined && (call.action?.action ?? call.call) === settles,
    );
  }
  const waits = [...holds, ...approves, confirms ?? [], warns ?? []].flat();
  return (
    waits.length > 0 &&
    !waits.some((id) => {
      const action = actions.get(id);
      return action === undefined ? isOpenCall(runs, id) : isOpen(action);
    })
  );
}

function isOpenCall(runs: Thread["runs"], id: string): boolean {
  return runs.get(runOfCall(id))?.open.has(id) === true;
}

/** The first offer that this view shows and that is past. */
export function pastOffer(thread: Thread, view: string): Offer | undefined {
  for (const offer of thread.offers.values()) {
    if (offer.shown.has(view) && offer.open.has(view) && isPast(thread, offer)) return offer;
  }
  return undefined;
}

/** A view shows the notice, or shows it as it stays; false when the entry is about something else. */
export function showOffer(thread: Thread, { view, entry, ref }: Entry<"delivered">): boolean {
  const past = readPastState(entry);
  const offer = thread.offers.get(past ?? entry);
  if (offer === undefined) return false;
  if (past === undefined) offer.shown.set(view, ref);
  if (past !== undefined || ref === "") offer.open.delete(view);
  if (offer.open.size === 0) thread.offers.delete(offer.notice.id);
  return past !== undefined;
}
