import { UPDATE_PLAN } from "../../core/tool-spec.ts";
import type { Run } from "../state.ts";
import type { ModelRun } from "../model-run.ts";
import { type Gate, refuse } from "./gate.ts";
import { leavesOf } from "./plan.ts";

/** How often a plan has to be written down before an answer where the configuration does not say. */
const MIN_REVISIONS = 2;
/** Revisions in a row, with nothing done between them, after which the model has to write what keeps it. */
const MAX_IDLE = 3;

/**
 * Work goes by a plan that is kept up to date. An answer that comes earlier is sent back, and until the plan is revised nothing
 * else may be called; revisions alone are no work.
 */
export const planning: Gate = {
  name: "planning",
  about:
    "sends back an answer before the plan was written down `agent.minRevisions` times or while steps of it are open, and refuses a fourth revision with nothing done between",
  beforeCall({ call: { tool }, run, modelRun }) {
    const { plan, gates, wroteAt } = modelRun;
    const sentBack = gates.findLast(({ gate }) => gate === "planning");
    if (sentBack !== undefined && tool !== UPDATE_PLAN && (plan?.seq ?? 0) < sentBack.seq)
      return refuse(`Bring the plan up to date first (${UPDATE_PLAN}); ${tool} was not executed.`);
    if (tool !== UPDATE_PLAN || idleRevisions(run) < MAX_IDLE) return undefined;
    if (wroteAt > (plan?.seq ?? 0)) return undefined;
    return refuse(
      `The plan was revised ${MAX_IDLE} times with nothing done between. Write in a sentence what keeps you; then do the next step, or revise the plan in that turn.`,
    );
  },
  beforeAnswer({ modelRun }) {
    const { minRevisions = MIN_REVISIONS } = modelRun.terms.gates ?? {};
    const { revision = 0, tasks = [] } = modelRun.plan ?? {};
    const open = openSteps(modelRun);
    if (revision >= minRevisions && open.length === 0) return undefined;
    const why =
      revision < minRevisions
        ? `the plan was written down ${revision} times, of at least ${minRevisions}`
        : `steps are open: ${open.map(({ id }) => id).join(", ")}`;
    const what = tasks.length === 0 ? "Write one" : "Bring it up to date";
    return `Your answer was not shown yet: ${why}. ${what} with ${UPDATE_PLAN}, do what is left or say in it what is not needed, then answer.`;
  },
};

/** Revisions since anything else was called. */
function idleRevisions({ calls }: Run): number {
  const done = [...calls.values()].filter(({ finished }) => finished !== undefined);
  const other = done.findLastIndex(({ finished }) => finished?.gate === undefined);
  return done.slice(other + 1).filter(({ finished }) => finished?.gate === "plan").length;
}

function openSteps({ plan }: ModelRun) {
  return leavesOf(plan?.tasks ?? []).filter(({ status }) => status !== "completed");
}
