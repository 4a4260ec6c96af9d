import { type CallProblem, MAX_CALLS_PER_TURN } from "../model-run.ts";
import { type Gate, refuse } from "./gate.ts";

const PROBLEMS: Readonly<Record<CallProblem, string>> = {
  cut: "The response was cut off, so this call was not executed. Make it again if needed.",
  too_many: `Only ${MAX_CALLS_PER_TURN} calls may be made in one turn, so this one was not executed, nor any after it.`,
  too_long:
    "The arguments of one turn's calls may have 256 KiB together. These had more, so they were left out and the call was not executed.",
  malformed: "The arguments are not a JSON object, so this call was not executed.",
};

/** A call that was cut off, is one too many, too long or no call at all still gets its result. */
export const unmade: Gate = {
  name: "unmade",
  about:
    "gives a call that was cut off, is malformed, or is one too many its result, without executing it",
  beforeCall: ({ call: { problem } }) =>
    problem === undefined ? undefined : refuse(PROBLEMS[problem]),
};
