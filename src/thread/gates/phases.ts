import type { Phase } from "../../core/gates.ts";
import { globMatches } from "../../core/glob.ts";
import { isAlwaysAllowed } from "../narrowed.ts";
import { rootOf } from "../family.ts";
import type { ModelRun } from "../model-run.ts";
import * as phrases from "../phrases.ts";
import type { Run } from "../state.ts";
import { type Gate, refuse } from "./gate.ts";

/** So often a call that the phase does not allow is only refused; the next one ends the run. */
const MAX_REFUSED = 2;

/** Allows only what the run's phase allows, its helpers too; the list of tools stays the same, so that the provider's cache holds. */
export const phases: Gate = {
  name: "phases",
  about:
    "refuses what the run's phase (`agent.phases`) does not allow; the third attempt at the same ends the run",
  beforeCall({ call: { tool }, run, effect }) {
    const phase = phaseFor(run);
    if (phase === undefined || isAlwaysAllowed(tool)) return undefined;
    const isNamed = phase.tools.some((glob) => globMatches(glob, tool));
    if (isNamed && (phase.reads !== true || effect() === "read")) return undefined;
    const only = phase.reads === true ? " that changes nothing" : "";
    const ends = endText(phase);
    return refuse(
      `${tool} is not available in this phase, ${phase.name}: only ${phase.tools.join(", ")}${only}.${ends}`,
    );
  },
  afterCalls(run, modelRun) {
    const phase = phaseFor(run);
    const refused = Object.entries(modelRun.phase.refused).find(([, times]) => times > MAX_REFUSED);
    if (phase === undefined || refused === undefined) return undefined;
    return { ends: phrases.runEndings.outOfPhase(refused[0], phase.name) };
  },
};

function endText({ calls, after }: Phase): string {
  const conditions = [
    ...(calls === undefined ? [] : [`${calls} calls of it went well`]),
    ...(after === undefined ? [] : [`${after.join(" or ")} went well`]),
  ];
  return conditions.length === 0 ? "" : ` It ends once ${conditions.join(" and ")}.`;
}

/** The phase that a call is held to: a helper's too is that of the run that people asked. */
function phaseFor(run: Run): Phase | undefined {
  const { modelRun } = rootOf(run);
  return modelRun && phaseOf(modelRun);
}

/** The phase that the run is in by its own list; undefined: it has none, as a helper. */
function phaseOf({ terms, phase }: Pick<ModelRun, "terms" | "phase">): Phase | undefined {
  return terms.gates?.phases?.[phase.at];
}

/** What the run's phase lets the model call, of these tools; undefined: anything. */
export function allowedNow(modelRun: ModelRun, tools: readonly string[]): string[] | undefined {
  const phase = phaseOf(modelRun);
  if (phase === undefined || phase.tools.includes("*")) return undefined;
  return tools.filter(
    (tool) => isAlwaysAllowed(tool) || phase.tools.some((glob) => globMatches(glob, tool)),
  );
}
