import { nextMove } from "./next.ts";
import type { Thread } from "../state.ts";
import type { Scene, Step } from "../steps.ts";
import { workKey } from "../work-keys.ts";

/** What the thread's goal needs next: a plan or a verdict, which take time, or an entry that follows at once. */
export function goalStep(thread: Thread, { now, busy, owesPlace }: Scene): Step | undefined {
  const move = nextMove(thread, now);
  if (move === undefined) return undefined;
  // Where the channel only talks no task begins.
  if (owesPlace === true && (move.kind === "plan" || move.kind === "begin"))
    return busy.has(workKey.where) ? undefined : { do: "where", key: workKey.where };
  const { goal } = move;
  const key = workKey.goal(goal.started.goal);
  // What it thinks of still belongs to how it stood.
  if (busy.has(key)) return undefined;
  switch (move.kind) {
    case "plan":
      return { do: "planGoal", key, goal };
    case "judge":
      return { do: "judgeTask", key, goal, task: move.task, work: move.work };
    case "begin":
    case "verdict":
    case "pause":
    case "end":
      return { do: "moveGoal" };
  }
}
