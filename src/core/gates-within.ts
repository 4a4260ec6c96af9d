import type { GateTerms, Phase } from "./gates.ts";
import { globMatches } from "./glob.ts";
import { UPDATE_PLAN } from "./tool-spec.ts";

/**
 * What of these gates a run with these tools can meet: nothing waits for a call that it cannot make. Plans are kept with a tool, also one that
 * is made first; required calls are of tools; a phase needs something that may be called in it, and ends after what can be called.
 */
export function gatesWithin(gates: GateTerms, tools: readonly string[]): GateTerms {
  const has = (glob: string) => tools.some((tool) => globMatches(glob, tool));
  const { requires = {}, phases = [], strategy, ...rest } = gates;
  const plans = tools.includes(UPDATE_PLAN);
  const asked = Object.entries(requires).map(([kind, globs]) => [kind, globs.filter(has)] as const);
  const needed = asked.filter(([, globs]) => globs.length > 0);
  const usable = phases.filter((each) => each.tools.some(has)).map((each) => endingOf(each, has));
  return {
    ...rest,
    on: gates.on.filter((name) => name !== "planning" || plans),
    ...(strategy !== undefined && plans && { strategy }),
    ...(needed.length > 0 && { requires: Object.fromEntries(needed) }),
    ...(usable.length > 0 && { phases: usable }),
  };
}

/** A phase that would end only after calls that cannot be made ends after one that can. */
function endingOf(phase: Phase, has: (glob: string) => boolean): Phase {
  const { after, ...rest } = phase;
  if (after === undefined) return phase;
  const possible = after.filter(has);
  return possible.length > 0 ? { ...phase, after: possible } : { ...rest, calls: phase.calls ?? 1 };
}
