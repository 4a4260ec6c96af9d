import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { foldTranscript } from "../../src/agent/transcript.ts";
import { Transcript } from "../../src/agent/transcript-turns.ts";
import type { Actor } from "../../src/core/entry.ts";
import { fold } from "../../src/thread/fold.ts";
import { goalStartedDraft } from "../../src/thread/goals/goal.ts";
import { Thread } from "../../src/thread/state.ts";
import { Conversation, foldConversation } from "../../src/worker/thread/conversation.ts";
import { snapshots } from "../../src/worker/thread/snapshot.ts";
import { nextStep, take } from "./imagined.ts";
import { openCard, openHelpers } from "./imagined-openings.ts";
import { interrupt } from "./imagined-people.ts";
import { imagine, type Tape, write } from "./imagined-world.ts";

/** Plays the tape; what follows it is all zeros. */
function tapeOf(numbers: readonly number[]): Tape & { over(): boolean } {
  let at = 0;
  return Object.assign(() => numbers[at++] ?? 0, { over: () => at >= numbers.length });
}

interface Imagining {
  hasCard?: boolean;
  window?: number;
  /** How deep, 1 or 2: a helper's card is open. */
  hasHelpers?: number;
  /** A goal is at work. */
  hasGoal?: boolean;
}

/** A history of people, models and tools that do as the tape says, until nothing is left to do. */
export function history(
  numbers: readonly number[],
  { hasCard = false, window, hasHelpers, hasGoal = false }: Imagining = {},
) {
  const world = imagine(window, hasHelpers !== undefined || hasGoal);
  const tape = tapeOf(numbers);
  const actor = { account: "test:ana", name: "ana" };
  if (hasCard) openCard(world);
  else if (hasHelpers !== undefined) openHelpers(world, hasHelpers);
  else write(world, { id: "first", kind: "message", actor, text: "why?" });
  if (hasGoal) write(world, goalFor(world, actor));
  while (!tape.over()) {
    const step = nextStep(world);
    if (step.do === "wait" || tape() % 7 === 0) interrupt(world, tape);
    else take(world, step, tape);
  }
  return { world, tape };
}

function goalFor({ thread }: ReturnType<typeof imagine>, by: Actor) {
  const budget = { steps: 60, tokens: 400_000, minutes: 10_000 };
  const { account } = by;
  const wanted = { text: "all is well", principals: [account], by, model: "m", budget, replan: 1 };
  return goalStartedDraft(thread, wanted);
}

export const numbers = (maxLength: number) =>
  fc.noBias(fc.array(fc.nat({ max: 59 }), { minLength: 20, maxLength, size: "max" }));

/** The same entries give the same thread and the same requests, wherever reading them is interrupted. */
export function checkReading(
  { entries, thread, transcript }: ReturnType<typeof imagine>,
  split: number,
): void {
  const at = split % (entries.length + 1);
  const again = fold(fold(new Thread(), entries.slice(0, at)), entries.slice(at));
  const told = new Transcript();
  for (const entry of [...entries.slice(0, at), ...entries]) foldTranscript(told, entry);
  if (!isDeepStrictEqual(again, thread)) throw new Error("another thread");
  if (!isDeepStrictEqual(told, transcript)) throw new Error("another transcript");
}

/** A snapshot of any beginning with what follows it folded in comes to the same as all entries. Returns whether there is one. */
export function checkSnapshot({ entries }: ReturnType<typeof imagine>, split: number): boolean {
  const at = split % (entries.length + 1);
  const bytes = snapshots.encode(foldConversation(new Conversation(), entries.slice(0, at)));
  if (bytes === undefined) return false;
  const resumed = foldConversation(snapshots.decode(bytes), entries.slice(at));
  const whole = foldConversation(new Conversation(), entries);
  // Without what class each part is of.
  if (!isDeepStrictEqual(structuredClone(resumed), structuredClone(whole)))
    throw new Error("another conversation");
  return true;
}

/** Three seconds at the most, but for a machine that does much else. */
export const TIMEOUT_MS = 120_000;
