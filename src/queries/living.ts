import type { LivingCard } from "../adapters/shown.ts";
import type { Thread } from "../thread/state.ts";
import { newGoal } from "../thread/goals/state.ts";
import type { LivingMessage } from "../thread/shown-living.ts";
import { alertsOf } from "./alerts.ts";
import { goalCardOf } from "./goals.ts";
import { incidentOf } from "./incidents.ts";
import type { Shown } from "./outgoing.ts";

/** A message that is kept up to date, as it stands now. */
export function livingOf(thread: Thread, living: LivingMessage, words: Shown): LivingCard {
  if ("over" in living) return { kind: "alerts", card: alertsOf(thread, living, words) };
  const { state } = living;
  if (state.kind === "incident_state")
    return { kind: "incident", card: incidentOf(state, words.encode) };
  const goal = thread.goals.get(state.goal) ?? newGoal(state);
  return { kind: "goal", card: goalCardOf(thread, goal, words.encode) };
}
