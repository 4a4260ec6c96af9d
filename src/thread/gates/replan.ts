import type { Gate } from "./gate.ts";
import { leavesOf } from "./plan.ts";

/** Failed calls while one step is in progress that say that it does not work so. */
const MAX_FAILED = 2;

/** A step that fails is planned another way, or handed to people: once for each revision of the plan. */
export const replan: Gate = {
  name: "replan",
  about:
    "tells the model to plan another way, or to turn to people, when two calls of a plan's step fail",
  afterCalls({ calls }, { plan, gates }) {
    const doing = leavesOf(plan?.tasks ?? []).find(({ status }) => status === "in_progress");
    if (plan === undefined || doing === undefined) return undefined;
    if (gates.some(({ gate, seq }) => gate === "replan" && seq > plan.seq)) return undefined;
    const failed = [...calls.values()].filter(
      ({ finished }) => finished?.outcome === "error" && finished.seq > plan.seq,
    );
    if (failed.length < MAX_FAILED) return undefined;
    const text = `Step ${doing.id} of your plan fails: ${failed.length} calls failed since you revised it. Plan another way, or say what people have to do (ask_user, or in the answer).`;
    return { text, toolsOff: false };
  },
};
