import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import { work } from "./imagined.ts";
import { checkReading, checkSnapshot, history, numbers, TIMEOUT_MS } from "./imagined-history.ts";
import { checkStopped, write } from "./imagined-world.ts";
import { ofKind } from "./talking.ts";

/** How often there was what goals are about. */
function count(seen: Record<string, number>, entries: readonly Entry[]): void {
  const note = (what: string, times: number) => (seen[what] = (seen[what] ?? 0) + times);
  const judged = ofKind(entries, "goal_judged");
  const states = ofKind(entries, "goal_state");
  const runs = ofKind(entries, "run_started").filter(({ goal }) => goal !== undefined);
  const isGoals = (run: string) => runs.some((each) => each.run === run);
  note("runs", runs.length);
  note("cards", ofKind(entries, "action_proposed").filter(({ run }) => isGoals(run)).length);
  for (const verdict of ["done", "retry", "abandon"])
    note(verdict, judged.filter((each) => each.verdict === verdict).length);
  for (const status of ["done", "stopped"])
    note(`ended ${status}`, states.filter((each) => each.status === status).length);
}

/** Each task is begun at most three times, by one run at a time, each of which is judged before the next one begins. */
function checkTasks(entries: readonly Entry[]): void {
  let open: string | undefined;
  const ended = new Set<string>();
  for (const entry of entries) {
    if (entry.kind === "run_started" && entry.goal !== undefined) {
      expect(open, entry.id).toBeUndefined();
      expect(entry.goal.tries).toBeLessThanOrEqual(3);
      open = entry.run;
    }
    if (entry.kind === "run_ended") ended.add(entry.run);
    if (entry.kind === "goal_judged" && entry.verdict !== undefined) {
      expect(entry.run).toBe(open);
      expect(ended.has(entry.run)).toBe(true);
      open = undefined;
    }
    if (entry.kind === "goal_state" && entry.state === "ended") open = undefined;
  }
}

test(
  "whatever people, models and tools do beside a goal, its tasks are done one by one, no write twice, and a Stop ends all of it",
  () => {
    const seen: Record<string, number> = {};
    fc.assert(
      fc.property(numbers(300), fc.nat(), (each, split) => {
        const { world, tape } = history(each, { hasGoal: true });
        checkReading(world, split);
        checkSnapshot(world, split);
        work(world, tape);
        checkStopped(world);
        write(world, { id: "last", kind: "stop", actor: { account: "test:ana", name: "ana" } });
        work(world, tape);
        expect(world.thread.runs.size).toBe(0);
        expect(world.thread.goals.get("g1")?.status).toBe("ended");
        checkTasks(world.entries);
        count(seen, world.entries);
      }),
      { numRuns: 120, endOnFailure: true },
    );
    for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
