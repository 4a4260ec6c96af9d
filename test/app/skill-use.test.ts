import { expect, test } from "vitest";
import { skillUse, weeksBefore } from "../../src/app/skill-use.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { DAY_MS, usedSkills } from "../skills/used.ts";

const [ONE, TWO]: [JournalKey, JournalKey] = ["slack:T1:C1:1.1", "slack:T1:C2:2.1"];

test("how often a skill was used and what came of it is read from the threads' journals", async () => {
  const { clock, journal, take, sawDone, say } = usedSkills();
  await take(ONE, "web");
  clock.now += DAY_MS;
  const from = clock.now;
  const run = await take(ONE, "web");
  await take(ONE, "none", "error");
  await say(ONE, run, true);
  await sawDone(ONE, "r2.t1", "done");
  await say(TWO, await take(TWO, "web"), false);
  await take(TWO, "disk");
  await sawDone(TWO, "r4.t1", "not done");
  clock.now += DAY_MS;
  const to = clock.now;
  await take(TWO, "disk");
  const none = { checked: 0, fixed: 0, good: 0, bad: 0 };
  expect(await skillUse(journal, { from, to }, ["slack"])).toEqual([
    { skill: "web", ...none, taken: 2, threads: 2, fixed: 1, good: 1, bad: 1 },
    { skill: "disk", ...none, taken: 1, threads: 1 },
  ]);
  expect(await skillUse(journal, { from, to }, ["discord"])).toEqual([]);
});

test("what requests are ordered by is the same all week, for every process", () => {
  const monday = Date.UTC(2026, 10, 23);
  const span = weeksBefore(monday);
  expect(span).toEqual({ from: Date.UTC(2026, 9, 26), to: monday });
  expect(weeksBefore(monday + 7 * DAY_MS - 1)).toEqual(span);
  expect(weeksBefore(monday + 7 * DAY_MS).to).toBe(monday + 7 * DAY_MS);
});
