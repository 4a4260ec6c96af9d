import type { Actor, Entry } from "../core/entry.ts";
import { estimateTokens } from "../core/block.ts";
import { isOpen } from "./action.ts";
import { isAssent } from "./assent.ts";
import { untoldId } from "./entry-ids.ts";
import { applyReply } from "./fold-questions.ts";
import { steer, type ModelRun } from "./model-run.ts";
import { type Run, type Thread, currentModelRun } from "./state.ts";

/** What people write, and what they have to be told of it. */

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
