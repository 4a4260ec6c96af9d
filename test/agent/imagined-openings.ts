import { NO_USAGE } from "../../src/core/block.ts";
import { DELEGATE } from "../../src/core/tool-spec.ts";
import { depthOf } from "../../src/thread/family.ts";
import type { Run } from "../../src/thread/state.ts";
import { conclude, nextStep, requestAt, take } from "./imagined.ts";
import { type Imagined, write } from "./imagined-world.ts";

/** What a history begins with. */

/** A card is open, and somebody writes. */
export function openCard(world: Imagined): void {
  const actor = { account: "test:ana", name: "ana" };
  write(world, { id: "fix", kind: "message", actor, text: "said fix;" });
  openWith(world, () => ["act"]);
  write(world, { id: "safe", kind: "message", actor, text: "said safe;" });
}

/** A run's two helpers have cards that are open, or theirs have. */
export function openHelpers(world: Imagined, depth: number): void {
  const actor = { account: "test:ana", name: "ana" };
  write(world, { id: "fix", kind: "message", actor, text: "said fix;" });
  openWith(world, (run) => {
    if (run.parent === undefined) return [DELEGATE, DELEGATE];
    return depthOf(run) < depth ? [DELEGATE] : ["act"];
  });
}

/** Each run's model makes these calls, until people have to decide. */
function openWith(world: Imagined, calls: (run: Run) => readonly string[]): void {
  for (let step = nextStep(world); step.do !== "wait"; step = nextStep(world)) {
    if (step.do !== "think") {
      take(world, step, () => 0);
      continue;
    }
    const { run, modelRun } = step;
    const { seen, hash } = requestAt(world, run, modelRun);
    const content = calls(run).map((name, i) => ({
      kind: "tool_use" as const,
      id: `${run.started.run}.${i}`,
      name,
      input: "{}",
    }));
    const made = { step: 1, seen, content, stop: "tool_use" as const, usage: NO_USAGE };
    const turn = { ...made, ms: 5, model: "test/imagined", request: hash };
    conclude(world, { ...step, facts: { kind: "turn", turn } });
  }
}
