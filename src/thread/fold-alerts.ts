import type { Entry } from "../core/entry.ts";
import type { Thread } from "./state.ts";

/** How a group of alerts of this thread stands now; two who were told at once may tell the older state later. */
export function applyAlertState({ alerts }: Thread, state: Entry<"alert_state">): void {
  const name = `${state.of} ${state.group}`;
  const known = alerts.get(name);
  if (known === undefined) alerts.set(name, { state, openedAt: state.seq, shown: new Map() });
  else if (known.state.last < state.last) known.state = state;
}
