import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { isPeriod, PERIOD_FORMS, readPeriod, showPeriod } from "../../src/incidents/period.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ZONES = [
  "UTC",
  "Europe/Madrid",
  "America/New_York",
  "America/Havana",
  "America/Sao_Paulo",
  "Asia/Beirut",
  "Asia/Kolkata",
  "Australia/Lord_Howe",
  "Pacific/Auckland",
];
const NOW = Date.parse("2026-11-22T05:30:00Z"); // a Sunday

const read = async (text: string, zone = "Europe/Madrid", now = NOW) => {
  const { from, to } = await readPeriod(text, { zone, now });
  return [from, to].map((instant) => new Date(instant).toISOString());
};

const CALENDARS = new Map(
  ZONES.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" }),
  ]),
);

/** The date that a zone's calendar shows, by Intl, as people write it. */
function dateIn(zone: string, instant: number): string {
  return CALENDARS.get(zone)?.format(instant) ?? "";
}

/** The first minute whose date is `date` or later, found by halving: dates never run backwards. */
function beginOf(date: string, zone: string): number {
  let low = Date.parse(`${date}T00:00Z`) / MINUTE - 2 * 1_440;
  let high = low + 4 * 1_440;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (dateIn(zone, middle * MINUTE) < date) low = middle;
    else high = middle;
  }
  return high * MINUTE;
}

/** The date so many days later, by the calendar alone. */
function later(date: string, days: number): string {
  return new Date(Date.parse(`${date}T12:00Z`) + days * DAY).toISOString().slice(0, 10);
}

const instants = fc.integer({ min: Date.parse("2016-01-01Z"), max: Date.parse("2030-01-01Z") });
const zones = fc.constantFrom(...ZONES);

describe("periods", () => {
  it.each([
    ["today", "2026-11-21T23:00:00.000Z", "2026-11-22T23:00:00.000Z"],
    ["yesterday", "2026-11-20T23:00:00.000Z", "2026-11-21T23:00:00.000Z"],
    ["this week", "2026-11-15T23:00:00.000Z", "2026-11-22T23:00:00.000Z"],
    ["last week", "2026-11-08T23:00:00.000Z", "2026-11-15T23:00:00.000Z"],
    [" Last  Week ", "2026-11-08T23:00:00.000Z", "2026-11-15T23:00:00.000Z"],
    ["this month", "2026-10-31T23:00:00.000Z", "2026-11-30T23:00:00.000Z"],
    ["last month", "2026-09-30T22:00:00.000Z", "2026-10-31T23:00:00.000Z"],
    ["last 7 days", "2026-11-15T05:30:00.000Z", "2026-11-22T05:30:00.000Z"],
    ["last 24 hours", "2026-11-21T05:30:00.000Z", "2026-11-22T05:30:00.000Z"],
    ["last 1 hour", "2026-11-22T04:30:00.000Z", "2026-11-22T05:30:00.000Z"],
    ["2026-11-01", "2026-10-31T23:00:00.000Z", "2026-11-01T23:00:00.000Z"],
    ["2026-11-01..2026-11-15", "2026-10-31T23:00:00.000Z", "2026-11-15T23:00:00.000Z"],
    ["2026-11", "2026-10-31T23:00:00.000Z", "2026-11-30T23:00:00.000Z"],
    ["november", "2026-10-31T23:00:00.000Z", "2026-11-30T23:00:00.000Z"],
    ["December", "2025-11-30T23:00:00.000Z", "2025-12-31T23:00:00.000Z"],
    ["nov 2024", "2024-10-31T23:00:00.000Z", "2024-11-30T23:00:00.000Z"],
  ])("%j", async (text, from, to) => {
    expect(isPeriod(text)).toBe(true);
    expect(await read(text)).toEqual([from, to]);
  });

  it("last month in January is December", async () => {
    const [from, to] = await read("last month", "UTC", Date.parse("2026-01-31T12:00Z"));
    expect([from, to]).toEqual(["2025-12-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z"]);
  });

  it.each([
    ["2026-10-25..2026-10-25", 25],
    ["2026-03-29", 23],
    ["2026-10-19..2026-10-25", 169],
    ["2026-03-23..2026-03-29", 167],
  ])("with a change of the clocks %s has %i hours in Madrid", async (text, hours) => {
    const { from, to } = await readPeriod(text, { zone: "Europe/Madrid", now: NOW });
    expect((to - from) / HOUR).toBe(hours);
  });

  it("the last 7 days over a change of the clocks begin when the clock showed the same", async () => {
    const now = Date.parse("2026-10-28T08:15:30.250Z");
    const { from } = await readPeriod("last 7 days", { zone: "Europe/Madrid", now });
    expect((now - from) / HOUR).toBe(169);
    const spring = Date.parse("2026-03-30T00:30:00Z"); // 02:30, which 29 March did not have
    const gap = await readPeriod("last 1 day", { zone: "Europe/Madrid", now: spring });
    expect(new Date(gap.from).toISOString()).toBe("2026-03-29T01:30:00.000Z");
  });

  it("is shown with its bounds and its zone", async () => {
    const period = await readPeriod("last week", { zone: "Europe/Madrid", now: NOW });
    expect(showPeriod(period)).toBe(
      "Last week (Mon 2026-11-09 00:00 to Mon 2026-11-16 00:00 Europe/Madrid)",
    );
  });

  it.each([
    "",
    "last moth",
    "soon",
    "last 0 days",
    "last 99999 days",
    "2026-02-30",
    "2026-13",
    "2026-00",
    "2026-11-01..2026-11-31",
    "1969-12-31",
    "26-11-01",
    "constructor",
  ])("%j is none, and the answer lists the forms", async (text) => {
    await expect(read(text)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining(PERIOD_FORMS),
    });
  });

  it("one that ends before it begins, and an unknown zone, are refused", async () => {
    await expect(read("2026-11-15..2026-11-01")).rejects.toThrow("Write the earlier day first");
    await expect(read("today", "Europe/Madird")).rejects.toThrow("not a time zone");
  });
});

test("the bounds of days, weeks and months are those that a search through the calendar finds", async () => {
  await fc.assert(
    fc.asyncProperty(instants, zones, async (now, zone) => {
      const here = { now, zone };
      const today = dateIn(zone, now);
      const weekday = (new Date(`${today}T12:00Z`).getUTCDay() + 6) % 7;
      const monday = later(today, -weekday);
      const first = `${today.slice(0, 7)}-01`;
      const next = `${later(first, 31).slice(0, 7)}-01`;
      const previous = `${later(first, -1).slice(0, 7)}-01`;
      const expected = {
        today: [today, later(today, 1)],
        yesterday: [later(today, -1), today],
        "this week": [monday, later(monday, 7)],
        "last week": [later(monday, -7), monday],
        "this month": [first, next],
        "last month": [previous, first],
        [today]: [today, later(today, 1)],
        [`${previous}..${today}`]: [previous, later(today, 1)],
        [today.slice(0, 7)]: [first, next],
      };
      for (const [text, [from = "", to = ""]] of Object.entries(expected)) {
        const period = await readPeriod(text, here);
        expect(period, `${text} ${zone}`).toMatchObject({
          from: beginOf(from, zone),
          to: beginOf(to, zone),
          zone,
        });
      }
    }),
    { numRuns: 60 },
  );
});

test("days follow each other without a gap or an overlap, and now is in today and in no other", async () => {
  await fc.assert(
    fc.asyncProperty(instants, zones, async (now, zone) => {
      const [before, day] = [
        await readPeriod("yesterday", { now, zone }),
        await readPeriod("today", { now, zone }),
      ];
      expect(before.to).toBe(day.from);
      expect(day.from <= now && now < day.to).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test("no text makes it fail in another way, and only its forms are read", async () => {
  const part = fc.constantFrom(
    ..."this last past week month 7 24 days hours d 7d 2w today november 2026 2026-11-01 .. 2026-02-30 99".split(
      " ",
    ),
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(part, { maxLength: 4 }).map((parts) => parts.join(" ")),
  );
  await fc.assert(
    fc.asyncProperty(text, async (written) => {
      try {
        const { from, to } = await readPeriod(written, { zone: "Europe/Madrid", now: NOW });
        expect(isPeriod(written)).toBe(true);
        expect(from).toBeLessThan(to);
      } catch (error) {
        expect(error).toMatchObject({ code: "INPUT_INVALID" });
      }
    }),
  );
});

test("a length is a period without `last`, and weeks are seven days", async () => {
  const here = { zone: "Europe/Madrid", now: NOW };
  const bounds = async (text: string) => {
    const { from, to } = await readPeriod(text, here);
    return { from, to };
  };
  const days = await bounds("last 14 days");
  for (const same of [
    "14 days",
    "past 14 days",
    "14d",
    "last 14d",
    "2 weeks",
    "last 2 weeks",
    "2w",
  ])
    expect(await bounds(same)).toEqual(days);
  const hours = await bounds("last 36 hours");
  for (const same of ["36 hours", "36h", "past 36h"]) expect(await bounds(same)).toEqual(hours);
  for (const none of ["0d", "14", "14 months", "days", "-1d", "1.5 days"])
    expect(isPeriod(none)).toBe(false);
});
