import type { Entry } from "../core/entry.ts";
import { isOpen } from "./action.ts";
import { isAssent, isHolding } from "./assent.ts";
import type { ModelRun } from "./model-run.ts";
import { type Call, currentModelRun, type Run, type Thread } from "./state.ts";

/** Where a message goes; decided here only, from what the journal says before it. */
export type Route =
  /** It is the answer to a question of a model's. */
  | { to: "question"; call: Call }
  /** It only agrees with an open card: its author is told what to press, no model is. */
  | { to: "assent" }
  /** It joins the run that goes on. */
  | { to: "run"; run: Run; modelRun: ModelRun }
  /** It waits for a run of its own. */
  | { to: "new_run" };

type Message = Entry<"message">;

export function routeOf(thread: Thread, message: Message): Route {
  const run = currentModelRun(thread);
  const isGoing = run !== undefined && !run.stopped;
  const call = isGoing ? openQuestions(run).find((each) => isReply(run, each, message)) : undefined;
  if (call !== undefined) return { to: "question", call };
  if (isAssent(message.text) && [...thread.live].some(isOpen)) return { to: "assent" };
  return isGoing && run.modelRun !== undefined
    ? { to: "run", run, modelRun: run.modelRun }
    : { to: "new_run" };
}

/** Questions that were put to people and that nobody has answered. */
export function openQuestions({ open }: Run): Call[] {
  return [...open.values()].filter(
    ({ asked, reply }) => asked !== undefined && reply === undefined,
  );
}

/** Who began the run answers its questions by a message, others press a choice or type `answer …`. */
export function isReply({ askers }: Run, call: Call, message: Message): boolean {
  return askers.has(message.actor.account) && isAnswer(call, message);
}

/** What somebody who was asked writes is the answer, unless they only say that they need time. A choice's own words are always one. */
function isAnswer({ asked }: Call, { text }: Message): boolean {
  const said = text.trim().toLowerCase();
  const isChoice = asked?.asks?.choices.some((choice) => choice.toLowerCase() === said) === true;
  return isChoice || !isHolding(text);
}
