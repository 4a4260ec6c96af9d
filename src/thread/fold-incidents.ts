import type { Entry } from "../core/entry.ts";
import { forgetOldest, MAX_PAST } from "./fold-memory.ts";
import type { ShownIncident, Thread } from "./state.ts";

/** How an incident of this thread stands now; two who wrote to it at once may tell the older state later. */
export function applyIncidentState(thread: Thread, state: Entry<"incident_state">): void {
  const { incident: id, last, seq } = state;
  const known = thread.incidents.get(id);
  if (known === undefined) {
    thread.incidents.set(id, { state, openedAt: seq, shown: new Map() });
  } else if (known.state.last < last) known.state = state;
}

export function showIncident(
  thread: Thread,
  { view, ref }: Entry<"delivered">,
  { of, seq }: { of: string; seq: number },
): void {
  const incident = thread.incidents.get(of);
  if (incident === undefined) return;
  incident.shown.set(view, { ref, seq });
  forgetOldest(thread, thread.incidents, MAX_PAST, (each) => isQuiet(thread, each));
}

/** One that is over and shown so. What is said of it later finds its card on the platform. */
function isQuiet({ views }: Thread, { state, shown }: ShownIncident): boolean {
  return (
    state.status === "resolved" && views.every((view) => (shown.get(view)?.seq ?? 0) >= state.seq)
  );
}
