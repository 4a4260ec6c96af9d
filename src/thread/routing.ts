import type { Entry } from "../core/entry.ts";
import { isOpen } from "./action.ts";
import type { Hearing } from "./addressed.ts";
import { isAssent, isHolding } from "./assent.ts";
import { isOf } from "./family.ts";
import { isInner, isReader, type Run, type TalkingRun, talkingRuns, type Thread } from "./state.ts";
import type { Call } from "./call.ts";

/** Where a message goes; decided here only, from what the journal says before it. */
export type Route =
  /** It is the answer to a question of a model's. */
  | { to: "question"; call: Call }
  /** It only agrees with an open card: its author is told what to press, no model is. */
  | { to: "assent" }
  /** It joins a run that goes on. */
  | { to: "run"; run: TalkingRun }
  /** It waits for the side run to begin. */
  | { to: "side_run" }
  /** It waits for a run of its own. */
  | { to: "new_run" }
  /** It is not for the bot. */
  | { to: "nobody" };

type Message = Entry<"message">;

export function routeOf(thread: Thread, message: Message, hearing: Hearing): Route {
  const { first, side } = talkingRuns(thread);
  const isForUs = hearing !== "silent";
  // It answers no question, joins nobody's run and agrees to nothing.
  if (message.app === true) return { to: isForUs ? "new_run" : "nobody" };
  for (const run of isForUs ? [first, side] : []) {
    if (run === undefined || run.stopped) continue;
    const call = openQuestions(run).find((each) => isReply(run, each, message));
    if (call !== undefined) return { to: "question", call };
  }
  const mayHint = isForUs || !thread.room.quiet;
  if (mayHint && isAssent(message.text) && [...thread.live].some(isOpen)) return { to: "assent" };
  if (!isForUs) return { to: "nobody" };
  if (first === undefined || first.stopped) return { to: "new_run" };
  const route = routeTo(thread, first);
  const joins = route.to === "run" && (hearing === "answer" || isFollowUp(route.run, message));
  if (joins || route.to !== "run") return route;
  return { to: isReader(route.run) ? "side_run" : "new_run" };
}

/** Who takes up what is said to a run: while the first one waits for a card, nothing waits with it. */
export function routeTo(thread: Thread, run: TalkingRun): Route {
  if (isReader(run) || openActions(thread, run).length === 0) return { to: "run", run };
  const { side } = talkingRuns(thread);
  return side === undefined || side.stopped ? { to: "side_run" } : { to: "run", run: side };
}

/** The cards of the run and its helpers that people have to decide on, or that are decided and not dispatched yet. */
export function openActions(thread: Thread, { started: { run } }: Run) {
  return [...thread.live].filter((action) => isOpen(action) && isOf(thread, action.run, run));
}

/** More from those who surely asked the bot; of others' words nothing instructs a run that may not be about them. */
function isFollowUp({ askers, modelRun }: Run, { actor }: Message): boolean {
  return askers.has(actor.account) && modelRun?.terms.unsure !== true;
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

/** Which messages of the thread's the run's next request holds: the first run is not told what a side run answers. */
export function sharesOf(
  thread: Thread,
  run: Pick<TalkingRun, "started" | "modelRun">,
): { elsewhere?: string[]; joined?: string[] } {
  const idsOf = (messages: readonly Message[]) => messages.map(({ id }) => id);
  // It is told its task alone.
  if (isInner(run)) return {};
  if (isReader(run)) {
    const joined = idsOf(run.modelRun.unseen);
    return joined.length === 0 ? {} : { joined };
  }
  const { side } = talkingRuns(thread);
  const waiting = [...thread.pending.values()].flatMap(({ entry }) =>
    entry.kind === "message" ? entry.id : [],
  );
  const replies = [...(side?.open.values() ?? [])].flatMap(({ reply }) => reply?.id ?? []);
  const elsewhere = [...waiting, ...idsOf(side?.modelRun.unseen ?? []), ...replies];
  return elsewhere.length === 0 ? {} : { elsewhere };
}
