import type { LivingCard } from "../adapters/shown.ts";
import type { Thread } from "../thread/state.ts";
import type { LivingMessage } from "../thread/shown-living.ts";
import { alertsOf } from "./alerts.ts";
import { incidentOf } from "./incidents.ts";
import type { Shown } from "./outgoing.ts";

/** A message that is kept up to date, as it stands now. */
export function livingOf(thread: Thread, living: LivingMessage, words: Shown): LivingCard {
  return "over" in living
    ? { kind: "alerts", card: alertsOf(thread, living, words) }
    : { kind: "incident", card: incidentOf(living.state, words.encode) };
}
