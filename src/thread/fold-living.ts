import type { Entry } from "../core/entry.ts";
import { isOverStatus } from "../core/incident-status.ts";
import { alertsName } from "./entry-ids.ts";
import { overDueAt } from "./fold-alerts.ts";
import { forgetOldest, MAX_PAST } from "./fold-memory.ts";
import type { Thread } from "./state.ts";
import type { LivingMessage, ShownLiving } from "./shown-living.ts";

/** Messages that are kept up to date with what they are about: an incident, a group of alerts. */

/** After an edit the next one waits so long, ms: longer with each of a row, since a platform takes only so many. */
const PACE_MS = [3_000, 10_000, 20_000, 40_000, 60_000] as const;
/** After so long a row of edits is over, ms. */
const CALM_MS = 600_000;

export function livingIn({ incidents, alerts, goals }: Thread): LivingMessage[] {
  const told = [...goals.values()].map(({ message }) => message);
  return [...incidents.values(), ...alerts.values(), ...told];
}

/** As deliveries and buttons name it. */
export function livingName({ state, openedAt }: LivingMessage): string {
  if (state.kind === "goal_started") return state.goal;
  return state.kind === "incident_state" ? state.incident : alertsName(openedAt);
}

/** How an incident of this thread stands now; two who wrote to it at once may tell the older state later. */
export function applyIncidentState(thread: Thread, state: Entry<"incident_state">): void {
  const { incident: id, last, seq } = state;
  const known = thread.incidents.get(id);
  if (known === undefined) {
    thread.incidents.set(id, { state, openedAt: seq, touched: seq, shown: new Map() });
  } else if (known.state.last < last) {
    known.state = state;
    known.touched = seq;
  } else return;
  // What can be pressed below alerts depends on whether one is open.
  for (const alerts of thread.alerts.values()) alerts.touched = seq;
}

/** A view shows it as of some entry. */
export function showLiving(
  thread: Thread,
  { view, ref, at }: Entry<"delivered">,
  { of, seq }: { of: string; seq: number },
): void {
  const living = livingIn(thread).find((each) => livingName(each) === of);
  if (living === undefined) return;
  const edits = paceAfter(living.shown.get(view), at);
  living.shown.set(view, { ref, seq, at, edits });
  // Goals are forgotten as others begin.
  if (living.state.kind === "goal_started") return;
  const isDone = (each: LivingMessage) => isQuiet(thread, each);
  if (living.state.kind === "incident_state")
    forgetOldest(thread, thread.incidents, MAX_PAST, isDone);
  else forgetOldest(thread, thread.alerts, MAX_PAST, isDone);
}

/** How many edits came shortly after one another until this one. */
export function paceAfter(before: ShownLiving | undefined, at: number): number {
  return before !== undefined && at - before.at < CALM_MS ? before.edits + 1 : 0;
}

/** One that is over and shown so. What is said of it later finds its message on the platform. */
function isQuiet(thread: Thread, living: LivingMessage): boolean {
  const { shown, touched } = living;
  const isTold = !("over" in living) || overDueAt(living) === undefined;
  return (
    isOver(thread, living) &&
    isTold &&
    thread.views.every((view) => (shown.get(view)?.seq ?? 0) >= touched)
  );
}

/** What it is about is over. */
export function isOver({ goals }: Pick<Thread, "goals">, living: LivingMessage): boolean {
  if ("over" in living) return living.over !== undefined;
  const { state } = living;
  if (state.kind === "incident_state") return isOverStatus(state.status);
  return state.kind === "goal_started" && goals.get(state.goal)?.status === "ended";
}

/** What is over by then is the past in a new view: it is not shown there. */
export function passOver(thread: Thread, view: string): void {
  for (const living of livingIn(thread))
    if (isOver(thread, living))
      living.shown.set(view, { ref: undefined, seq: living.touched, at: 0, edits: 0 });
}

/** From when on the view may show what it has not as it is, ms since 1970. A new message waits for nothing, nor does a person's word. */
export function livingDueAt(living: LivingMessage, shown: ShownLiving | undefined): number {
  if (shown?.ref === undefined || living.state.kind === "incident_state") return 0;
  if ("turned" in living && living.turned > shown.seq) return 0;
  return nextEditAt(shown);
}

/** When a message that was edited may be edited again, ms since 1970. */
export function nextEditAt({ at, edits }: ShownLiving): number {
  return at + (PACE_MS[Math.min(edits, PACE_MS.length - 1)] ?? 0);
}
