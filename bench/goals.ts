import { isDeepStrictEqual } from "node:util";
import { cutTrial, wholeTrial } from "../test/agent/goal-trial.ts";
import { seeded } from "../test/core/seeded.ts";
import type { Figure } from "./journal.ts";

const TASKS = 30;
const POINTS = 100;
/** The entries of the conversation before it, and that it began. */
const BEFORE = 6;

/** A goal of thirty tasks whose worker is killed at a hundred random points of its journal, each in a run of its own. */
export async function goalFigures(): Promise<Figure[]> {
  const { entries, end } = await wholeTrial(TASKS);
  const random = seeded(30);
  const cuts = new Set<number>();
  while (cuts.size < POINTS) cuts.add(BEFORE + random.int(entries.length - BEFORE));
  let others = 0;
  let twice = 0;
  for (const cut of cuts) {
    const now = await cutTrial(TASKS, entries, cut);
    if (!isDeepStrictEqual(now, end)) {
      others += 1;
      process.stderr.write(`cut after ${cut} (${entries[cut - 1]?.id}): ${JSON.stringify(now)}\n`);
    }
    twice += now.writes.filter((each) => !each.endsWith("×1")).length;
  }
  const name = `goal of ${TASKS} tasks, ${entries.length} entries, killed at ${POINTS} random points`;
  return [
    { name: `${name}: other end states than undisturbed (aim 0)`, value: `${others}` },
    { name: `${name}: writes done twice, of ${end.writes.length} (aim 0)`, value: `${twice}` },
  ];
}
