import { expect, test } from "vitest";
import { runTrials } from "../trials/trials.ts";
import { runWeather } from "../trials/weather.ts";

/** `npm run bench -- chat` makes a thousand of each. */
test.each(["SQLite", "Redis"] as const)(
  "on Slack with %s, killed again and again: every mention is answered once and every approved command run once",
  async (store) => {
    const report = await runTrials({ mentions: 80, store, seed: 20261122, pace: 8 });
    expect(report.failures, report.evidence).toEqual([]);
    expect(report.judged).toBeGreaterThan(60);
    expect(report.strikes).toBeGreaterThan(1);
    expect(report.commands.once).toBeGreaterThan(0);
  },
  180_000,
);

test("on both platforms, refused, limited, cut off and unheard: nothing is lost, doubled or stuck", async () => {
  const report = await runWeather({ mentions: 60, seed: 20261123, pace: 8 });
  expect(report.failures).toEqual([]);
  expect(report.answered + report.commands).toBe(60);
  expect(report.elsewhere).toBeLessThan(20);
  expect(report.drops).toBeGreaterThan(1);
}, 180_000);
