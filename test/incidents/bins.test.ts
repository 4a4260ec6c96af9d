import fc from "fast-check";
import { DateTime } from "luxon";
import { expect, test } from "vitest";
import { binsOf } from "../../src/incidents/bins.ts";
import { readPeriod } from "../../src/incidents/period.ts";

/** Zones and days on which midnight is skipped, comes twice, or a whole day does not exist. */
const ODD = [
  ["Pacific/Apia", "2012-01-05T12:00"],
  ["Africa/Cairo", "2026-04-27T00:00"],
  ["America/Havana", "2026-11-03T09:00"],
  ["America/Sao_Paulo", "2018-02-20T23:30"],
  ["Australia/Lord_Howe", "2026-04-07T01:00"],
  ["Europe/Madrid", "2026-10-27T00:00"],
  ["UTC", "2026-01-01T00:00"],
] as const;

const HOUR = 3_600_000;

test("a bin has exactly the instants that the zone's clocks show on its day, in its week or its month", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...ODD),
      fc.integer({ min: 1, max: 12_000 }),
      fc.constantFrom("hours", "days", "month"),
      fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 20 }),
      async ([zone, local], length, form, fractions) => {
        const now = DateTime.fromISO(local, { zone }).toMillis();
        const name =
          form === "month"
            ? "this month"
            : `last ${form === "days" ? Math.ceil(length / 24) : length} ${form}`;
        const period = await readPeriod(name, { zone, now });
        const bins = await binsOf(period, now);
        const end = Math.min(period.to, now);
        expect(bins[0]?.from).toBe(period.from);
        expect(bins.length).toBeLessThan(60);
        const begins = bins.map(({ from }) => from);
        expect(begins).toEqual([...new Set(begins)].toSorted((a, b) => a - b));
        const instants = [
          ...fractions.map((part) => Math.floor(period.from + part * (end - period.from))),
          // Just around each of their bounds.
          ...begins.flatMap((from) => [from - 1, from, from + HOUR]),
        ].filter((instant) => instant >= period.from && instant < end);
        for (const instant of instants) {
          const bin = bins.findLast(({ from }) => from <= instant)?.name ?? "none";
          const [unit = ""] = bin.split(":");
          const at = DateTime.fromMillis(instant, { zone });
          const names: Record<string, string | null> = {
            day: at.toISODate(),
            week: at.startOf("week").toISODate(),
            month: at.toFormat("yyyy-MM"),
          };
          expect(bin).toBe(`${unit}:${names[unit]}`);
        }
      },
    ),
  );
});

test("31 days are days, more are weeks from Monday, more than 53 weeks months, and more than 60 months years", async () => {
  const here = { zone: "Europe/Madrid", now: Date.parse("2026-11-20T12:00:00Z") };
  const names = async (text: string) =>
    (await binsOf(await readPeriod(text, here), here.now)).map(({ name }) => name);
  expect(await names("last week")).toEqual(
    [9, 10, 11, 12, 13, 14, 15].map((day) => `day:2026-11-${String(day).padStart(2, "0")}`),
  );
  expect(await names("this month")).toHaveLength(20);
  expect(await names("last 31 days")).toHaveLength(32);
  expect((await names("last 32 days")).slice(0, 2)).toEqual(["week:2026-10-19", "week:2026-10-26"]);
  expect(await names("last 371 days")).toHaveLength(54);
  expect((await names("last 400 days")).slice(0, 2)).toEqual(["month:2025-10", "month:2025-11"]);
  expect((await names("1970-01-01..2026-11-20")).slice(-2)).toEqual(["year:2025", "year:2026"]);
  expect(await names("today")).toEqual(["day:2026-11-20"]);
});
