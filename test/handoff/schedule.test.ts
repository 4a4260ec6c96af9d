import fc from "fast-check";
import { DateTime } from "luxon";
import { expect, test } from "vitest";
import { createSchedule, isCron } from "../../src/handoff/schedule.ts";

const MADRID = "Europe/Madrid";

async function timesOf(cron: string, zone: string, from: string, to: string): Promise<string[]> {
  const { next } = await createSchedule(cron, zone);
  const found: string[] = [];
  for (let at = next(Date.parse(from)); at !== undefined && at < Date.parse(to); at = next(at))
    found.push(new Date(at).toISOString().slice(5, 16));
  return found;
}

test("a time that clocks skip comes as they jump, one that they show twice comes once", async () => {
  const spring = ["2026-03-28T12:00Z", "2026-03-30T12:00Z"] as const;
  expect(await timesOf("30 2 * * *", MADRID, ...spring)).toEqual(["03-29T01:00", "03-30T00:30"]);
  expect(await timesOf("0 8 * * *", MADRID, ...spring)).toEqual(["03-29T06:00", "03-30T06:00"]);
  const autumn = ["2026-10-24T12:00Z", "2026-10-26T12:00Z"] as const;
  expect(await timesOf("30 2 * * *", MADRID, ...autumn)).toEqual(["10-25T00:30", "10-26T01:30"]);
  expect(await timesOf("0 8 * * *", MADRID, ...autumn)).toEqual(["10-25T07:00", "10-26T07:00"]);
  // A list of hours is made of fixed times too.
  expect(await timesOf("15 1,2,3 * * *", MADRID, "2026-10-24T12:00Z", "2026-10-25T12:00Z")).toEqual(
    ["10-24T23:15", "10-25T00:15", "10-25T02:15"],
  );
});

test("a daily time comes exactly once on each day of each zone's year, and is the latest until the next", async () => {
  const zones = [
    "Europe/Madrid",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "UTC",
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...zones),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 59 }),
      fc.integer({ min: 1, max: 360 }),
      async (zone, hour, minute, day) => {
        const schedule = await createSchedule(`${minute} ${hour} * * *`, zone);
        const begin = DateTime.fromObject({ year: 2026, ordinal: day }, { zone }).startOf("day");
        let at = begin.toMillis() - 1;
        for (let i = 0; i < 5; i += 1) {
          const before = at;
          at = schedule.next(at) ?? NaN;
          expect(DateTime.fromMillis(at, { zone }).toISODate()).toBe(
            begin.plus({ days: i }).toISODate(),
          );
          expect(schedule.latest(at)).toBe(at);
          expect(schedule.latest(at - 1)).toBeLessThanOrEqual(before);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("what is no cron of five fields is refused, and what is taken can be planned", async () => {
  const good = ["0 8 * * 1-5", "*/5 * * * *", "0 8-18/2 * jan-mar Mon,fri", "0 0 1,15 * *"];
  const bad = [
    "0 8 * *",
    "60 * * * *",
    "* 24 * * *",
    "0 8 * * 5-1",
    "0 8 * * fri-mon",
    "5/2 * * * *",
  ];
  for (const text of good) {
    expect(isCron(text)).toBe(true);
    expect((await createSchedule(text, "UTC")).next(0)).toBeGreaterThan(0);
  }
  for (const text of [...bad, "*/0 * * * *", "a b c d e", "", "@daily"])
    expect(isCron(text)).toBe(false);
  // A day that never comes.
  expect((await createSchedule("0 0 30 2 *", "UTC")).next(0)).toBeUndefined();
});
