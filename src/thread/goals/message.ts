import type { Entry, Kind } from "../../core/entry.ts";
import { rootOf } from "../family.ts";
import type { Goal } from "./state.ts";
import type { Thread } from "../state.ts";

/** As deliveries name the folder for reports. */
export const REPORT_VIEW = "reports";

export function reportId({ started }: Pick<Goal, "started">): string {
  return `report:${started.goal}`;
}

/** The report of a goal is in its folder. */
export function applyReportWritten({ goals }: Thread, entry: string): void {
  for (const goal of goals.values()) if (reportId(goal) === entry) goal.isReportOwed = false;
}

/** What the entry changes of it; to be called once it is folded. */
export function noteGoalMessage<K extends Kind>(thread: Thread, entry: Entry<K>): void {
  if (thread.goals.size === 0) return;
  const goal = thread.goals.get(goalIn(thread, entry) ?? "");
  if (goal === undefined) return;
  goal.message.touched = entry.seq;
  if (TURNS.has(entry.kind)) goal.message.turned = entry.seq;
  if (goal.end?.id !== entry.id || goal.end.seq !== entry.seq) return;
  const { id, seq } = entry;
  thread.outbox.set(id, { kind: "goal", id, seq, goal, views: new Set(thread.views) });
  goal.isReportOwed = goal.report.length > 0;
}

const TURNS: ReadonlySet<Kind> = new Set<Kind>(["goal_state", "action_proposed", "action_closed"]);

/** The goal that the entry is about: by its name, or by the run that works for it. */
function goalIn<K extends Kind>({ runs, actions }: Thread, entry: Entry<K>): string | undefined {
  if ("goal" in entry && typeof entry.goal === "string") return entry.goal;
  const action =
    "action" in entry && !("run" in entry) ? actions.get(entry.action ?? "") : undefined;
  const name = action?.run ?? ("run" in entry ? entry.run : undefined);
  const run = runs.get(name ?? "");
  return run && rootOf(run).started.goal?.goal;
}
