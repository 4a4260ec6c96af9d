import type { StoredEntry } from "../core/entry.ts";
import { hiddenBy } from "./silences.ts";
import { standingIn } from "./alert-phrases.ts";
import { paceAfter } from "./fold-living.ts";
import type { Entry } from "../core/entry.ts";
import type { Thread } from "./state.ts";
import type { ShownAlerts } from "./shown-living.ts";

/** What the message in the channel that a thread of alerts began with says of them, for who does not open the thread. */

/** As deliveries name it. */
export const ROOT = "root";

/** Whether what there is to say of the alerts has changed. To be called after the entry is folded. */
export function noteRoot(thread: Thread, { kind, seq }: StoredEntry): void {
  const { root, alerts } = thread;
  if (alerts.size === 0 || !CHANGES.has(kind)) return;
  const words = JSON.stringify([...alerts.values()].map((each) => wordsOf(thread, each)));
  if (words === root.words) return;
  // It was announced as firing: that need not be said again.
  const isAsAnnounced = root.words === "" && [...alerts.values()].every(isPlain);
  root.words = words;
  if (!isAsAnnounced) root.touched = seq;
}

const CHANGES: ReadonlySet<StoredEntry["kind"]> = new Set([
  "alert_state",
  "tool_finished",
  "timer",
]);

function isPlain({ state: { flaps, overAt } }: ShownAlerts): boolean {
  return flaps === undefined && overAt === undefined;
}

function wordsOf(thread: Thread, { state }: ShownAlerts) {
  const { group, name, firing, acknowledged, resolved, overAt, flaps } = state;
  const hidden = standingIn(state).flatMap((alert) => hiddenBy(thread, alert)?.until ?? []);
  return [group, name, firing, acknowledged, resolved, overAt, flaps?.turns, ...hidden];
}

/** It says so, as of some entry. */
export function showRoot({ root }: Thread, { ref, at }: Entry<"delivered">, seq: number): void {
  root.shown = { ref, seq, at, edits: paceAfter(root.shown, at) };
}
