import { countedTokens } from "../core/block.ts";
import { extensionFor } from "./extending.ts";
import { nearness } from "./gates/limit.ts";
import { isInner, isTalking, type Run } from "./state.ts";

/**
 * From here on it is told what a run has used: most runs end before, and while much is left nobody has anything to decide. A run of
 * few steps can take long, so a minute of work is enough too.
 */
const FROM = 1 / 3;
const FROM_MS = 60_000;

/** What a run that people asked has used of its budget, its helpers' part with it; undefined while that is of no use to know. */
export function meterOf(run: Run) {
  if (!isTalking(run) || isInner(run)) return undefined;
  const { modelRun } = run;
  const { budget, steps, usage, money, workMs, extensions } = modelRun;
  const isEarly = nearness(modelRun) < FROM && workMs < FROM_MS;
  if (steps === 0 || (isEarly && extensions.length === 0)) return undefined;
  const extension = extensionFor(run);
  return {
    budget,
    steps,
    tokens: countedTokens(usage),
    money,
    workMs,
    extendedBy: [...new Set(extensions.map(({ name }) => name))],
    ...(extension && { extension: { number: extension.number, more: extension.estimate } }),
  };
}
