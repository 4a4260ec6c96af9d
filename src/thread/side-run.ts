import type { Entry } from "../core/entry.ts";
import { numberOfCall } from "./entry-ids.ts";
import { place, tellHeld } from "./fold-messages.ts";
import { type ModelRun, steer } from "./model-run.ts";
import { routeTo } from "./routing.ts";
import { isReader, type Run, talkingRuns, type Thread } from "./state.ts";

/** The side run: it only reads, and what it cannot do is the first run's once its cards are decided. */

/** Part of a run's budget: a side run answers a question, it does not investigate. */
const STEPS = 1 / 3;
const TOKENS = 1 / 2;
const MINUTES = 1 / 3;

export function sideBudget({ steps, tokens, minutes, cents }: ModelRun["terms"]["budget"]) {
  return {
    steps: Math.ceil(steps * STEPS),
    tokens: Math.ceil(tokens * TOKENS),
    minutes: minutes * MINUTES,
    ...(cents !== undefined && { cents: cents * TOKENS }),
  };
}

/** A call that is more than its run may do: what people asked it for so far is taken up later, and they are told where it waits for a card. */
export function applyHandOver(thread: Thread, modelRun: ModelRun): void {
  const asked = modelRun.told.filter(({ app }) => app !== true);
  modelRun.handedOver.push(...asked);
  for (const message of asked) tellHeld(thread, message);
  modelRun.told = [];
}

/**
 * What a run that ends leaves: what it was not told, unless all of it was stopped, and what it handed over. Nobody is told it
 * before here, so that a request never holds half of what was said beside it.
 */
export function passOnLeft(
  thread: Thread,
  run: Run,
  { unseen, handedOver }: ModelRun,
  { seq, status }: Entry<"run_ended">,
): void {
  const { first } = talkingRuns(thread);
  const isGoing = first !== undefined && !first.stopped;
  // A request that is under way holds none of it: it counts as said now.
  for (const message of handedOver.map((each) => ({ ...each, seq }))) {
    if (!isGoing) {
      place(thread, message, { to: "new_run" });
      continue;
    }
    const { started, modelRun, messages } = first;
    messages.set(message.id, message.actor.account);
    modelRun.taken.add(message.id);
    steer(modelRun, message, started.principals.includes(message.actor.account));
  }
  for (const message of status === "cancelled" ? [] : unseen) {
    if (isGoing) place(thread, message, routeTo(thread, first));
    else place(thread, message, { to: "new_run" });
  }
  if (!isReader(run) || first === undefined) return;
  for (const call of run.calls.keys()) first.modelRun.untoldCalls.delete(numberOfCall(call));
}

/** The cards are decided before a side run began: what was said meanwhile goes to the first run after all. */
export function rejoinFirst(thread: Thread): void {
  const { first } = talkingRuns(thread);
  if (first === undefined || first.stopped) return;
  const route = routeTo(thread, first);
  for (const [id, { entry, forSide, unsure }] of route.to === "run" ? thread.pending : []) {
    if (forSide !== true || entry.kind !== "message") continue;
    thread.pending.delete(id);
    place(thread, entry, unsure === true ? { to: "new_run" } : route, unsure);
  }
}

/** A Stop of everything: what waited for a side run, or for the card behind one, is stopped with the first run. */
export function stopBeside(thread: Thread): void {
  const { first, side } = talkingRuns(thread);
  if (side !== undefined) side.modelRun.handedOver = [];
  for (const [id, { entry, forSide }] of first === undefined ? [] : thread.pending) {
    if (forSide !== true || entry.kind !== "message") continue;
    thread.pending.delete(id);
    // A request that is under way holds nothing that comes to its run only now.
    first?.modelRun.unseen.push({ ...entry, seq: thread.last });
  }
}
