import { formatElapsed } from "../../core/instant.ts";
import type { PlannedTask } from "../../core/plan.ts";
import { oneLine } from "../../core/text.ts";
import { meterWords } from "./budget-words.ts";
import { clip } from "./clip.ts";
import { type PlanLine, planLines, planLineText } from "./plan-lines.ts";
import { briefArgs, modelTask, stillWords } from "./phrases.ts";
import type { CallProgress, RunProgress } from "./progress.ts";

/** One line of a plan. `id`: of no other line of the run. */
interface Task {
  id: string;
  title: string;
  status: "pending" | "in_progress" | "complete" | "error";
}

/** What a run does, as a list of tasks under a title. */
export interface Plan {
  title: string;
  tasks: readonly Task[];
}

/** More calls are counted in one last task. */
const MAX_CALLS = 25;
/** Slack takes 256 characters of a task. */
const MAX_TITLE = 200;

/** A run's progress for a platform that draws plans itself: each call by its words, and what its model is doing. */
export function planOf({ calls, step, draft, isWaiting, plan, meter }: RunProgress): Plan {
  const all = [...calls];
  const isRunning = all.some(([, { outcome }]) => outcome === undefined);
  const thinks = step > 0 || all.length === 0;
  const more = all.slice(MAX_CALLS);
  const doesMore = more.some(([, { outcome }]) => outcome === undefined);
  return {
    title: stillWords(all.length),
    tasks: [
      ...planLines(plan).map(stepOf),
      ...(thinks
        ? [
            {
              id: "model",
              title: [modelTask({ step, draft }), ...(meter ? [meterWords(meter)] : [])].join(
                " · ",
              ),
              status: isRunning || isWaiting ? ("complete" as const) : ("in_progress" as const),
            },
          ]
        : []),
      ...all.slice(0, MAX_CALLS).map(([id, call]) => taskOf(id, call)),
      ...(more.length === 0
        ? []
        : [
            {
              id: "more",
              title: `… ${more.length} more`,
              status: doesMore ? ("in_progress" as const) : ("complete" as const),
            },
          ]),
    ],
  };
}

/** A step of the model's own plan. */
function stepOf(line: PlanLine, i: number): Task {
  const status = "more" in line ? "pending" : STATUS[line.status];
  return { id: `plan-${i}`, title: clip(planLineText(line), MAX_TITLE), status };
}

const STATUS = {
  pending: "pending",
  in_progress: "in_progress",
  completed: "complete",
} as const satisfies Readonly<Record<PlannedTask["status"], Task["status"]>>;

function taskOf(id: string, { tool, args, doing, outcome, ms }: CallProgress): Task {
  const what = clip(oneLine(doing ?? `${tool} ${briefArgs(args)}`.trim()), MAX_TITLE / 2);
  const how = outcome === undefined || outcome === "ok" ? "" : ` · ${outcome}`;
  const took = ms === undefined ? "" : ` · ${formatElapsed(ms)}`;
  return { id, title: what + how + took, status: statusOf(outcome) };
}

function statusOf(outcome: CallProgress["outcome"]): Task["status"] {
  if (outcome === undefined) return "in_progress";
  return outcome === "ok" ? "complete" : "error";
}
