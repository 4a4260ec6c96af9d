import type { Actor, Entry } from "../core/entry.ts";
import { hear, type Hearing, isSmallTalk } from "./addressed.ts";
import { addressesIn } from "../core/links.ts";
import { tokensIn } from "./filling.ts";
import { untoldId } from "./entry-ids.ts";
import { steer } from "./model-run.ts";
import { isReply, openActions, openQuestions, type Route, routeOf } from "./routing.ts";
import { askerIn, type QuestionEnd, talkingRuns, type Thread, type UntoldFact } from "./state.ts";
import type { Call } from "./call.ts";
import { forgetOldest, MAX_ANSWERED, MAX_WRITTEN } from "./fold-memory.ts";

export function applyName({ names }: Thread, { actor }: { actor: Actor }): void {
  names.set(actor.account, actor.name);
}

export function applyMessage(thread: Thread, entry: Entry<"message">): void {
  applyName(thread, entry);
  const hearing = hear(thread.room, entry);
  if (!isSmallTalk(hearing, entry)) {
    applyVoice(thread, entry.actor.account, entry);
    // A bot's words lead wherever whoever wrote its alert wants.
    if (entry.app !== true) applyAddresses(thread, entry.text);
    thread.requestTokens += tokensIn(entry);
  }
  if (hearing === "answer") tellFiles(thread, entry);
  passOn(thread, entry, hearing);
}

/**
 * What people and skills write may be clicked where a model repeats it to the letter: it leads nowhere that they did not
 * name, carries nothing that was read here, and hides nothing. So a guest's too: it can be clicked where they wrote it.
 */
export function applyAddresses({ written }: Thread, text: string): void {
  for (const { address } of addressesIn(text)) {
    written.delete(address);
    written.add(address);
  }
  for (const address of written) {
    if (written.size <= MAX_WRITTEN) break;
    written.delete(address);
  }
}

function passOn(thread: Thread, entry: Entry<"message">, hearing: Hearing): void {
  const route = routeOf(thread, entry, hearing);
  if (route.to !== "question" && hearing === "answer") tellAsking(thread, entry);
  place(thread, entry, route, hearing === "unsure");
}

/** Gives a message to whoever takes it up from here on. `unsure`: no rule says whether it is for the bot. */
export function place(thread: Thread, entry: Entry<"message">, route: Route, unsure = false): void {
  switch (route.to) {
    case "question":
      route.call.reply = entry;
      return;
    case "assent":
      thread.assents.set(entry.id, entry);
      return;
    case "run": {
      const { started, modelRun, messages } = route.run;
      messages.set(entry.id, entry.actor.account);
      // A request that is under way holds nothing that comes to its run only now.
      const now = { ...entry, seq: thread.last };
      steer(modelRun, now, started.principals.includes(entry.actor.account));
      return;
    }
    case "side_run":
      thread.pending.set(entry.id, { entry, unsure, stopped: false, forSide: true });
      return;
    case "new_run":
      thread.pending.set(entry.id, { entry, unsure, stopped: false });
      return;
    case "nobody":
  }
}

/** From here on the account's words are part of what models are told. */
export function applyVoice({ voices }: Thread, account: string, { seq }: Entry): void {
  if (!voices.has(account)) voices.set(account, seq);
}

/** What the message asks for waits for the first run's open cards: its author is told so alone, once for each card. */
export function tellHeld(thread: Thread, { id, actor: { account } }: Entry<"message">): void {
  const { first } = talkingRuns(thread);
  const open = first === undefined ? [] : openActions(thread, first);
  if (open.length === 0 || open.some(({ told }) => told.has(account))) return;
  for (const { told } of open) told.add(account);
  const actions = open.map(({ action }) => action);
  const due = untoldId.held(id);
  thread.untold.set(due, { id: due, to: account, about: { kind: "held", actions } });
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

/** Whose message answers no question that waits is told so, alone and once. */
function tellAsking(thread: Thread, { id, actor: { account } }: Entry<"message">): void {
  const { first, side } = talkingRuns(thread);
  for (const run of [first, side]) {
    for (const call of run === undefined || run.stopped ? [] : openQuestions(run)) {
      if (call.told.has(account)) continue;
      call.told.add(account);
      const about: UntoldFact = run?.askers.has(account)
        ? { kind: "still_asking", call: call.call }
        : { kind: "asking_another", call: call.call, asker: run && askerIn(run)?.name };
      thread.untold.set(id, { id, to: account, about });
    }
  }
}

/** Who wrote it may not answer the question; the next one who wrote since it was asked is taken at their word. */
export function refuseReply(thread: Thread, id: string): void {
  for (const run of thread.going) {
    const { modelRun } = run;
    for (const call of run.open.values()) {
      if (modelRun === undefined || call.reply?.id !== id) continue;
      const since = call.asked?.seq ?? 0;
      const next = modelRun.unseen.find(
        (message) => message.seq > since && isReply(run, call, message),
      );
      call.reply = next;
      modelRun.unseen = modelRun.unseen.filter((message) => message !== next);
    }
  }
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
  forgetOldest(thread, thread.answered, MAX_ANSWERED);
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
