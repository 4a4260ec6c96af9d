import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { readMoment, formatElapsed, showDuration, showMoment } from "../../src/core/instant.ts";
import { formatBytes } from "../../src/core/text.ts";

const here = { zone: "Europe/Madrid", now: Date.parse("2026-11-22T13:30:00Z") }; // 14:30 in Madrid
const read = async (text: string, changed: Partial<typeof here> = {}) =>
  new Date(await readMoment(text, { ...here, ...changed })).toISOString();

describe("times", () => {
  it.each([
    ["now", "2026-11-22T13:30:00.000Z"],
    ["14:05", "2026-11-22T13:05:00.000Z"],
    ["9:05", "2026-11-22T08:05:00.000Z"],
    ["14:30", "2026-11-22T13:30:00.000Z"],
    ["14:31", "2026-11-21T13:31:00.000Z"],
    ["2026-11-20 14:05", "2026-11-20T13:05:00.000Z"],
    ["2026-07-20 14:05", "2026-07-20T12:05:00.000Z"],
    ["2026-11-20T14:05:30", "2026-11-20T13:05:30.000Z"],
    ["2026-11-20T14:05Z", "2026-11-20T14:05:00.000Z"],
    ["2026-11-20 14:05 UTC", "2026-11-20T14:05:00.000Z"],
    ["2026-11-20T14:05:00.123Z", "2026-11-20T14:05:00.000Z"],
    ["2026-11-20T14:05:00-03:30", "2026-11-20T17:35:00.000Z"],
    ["2026-11-20T14:05+0100", "2026-11-20T13:05:00.000Z"],
  ])("%j", async (text, expected) => {
    expect(await read(text)).toBe(expected);
  });

  it.each([
    ["half past two", "not a time I can read. Write now, 14:05"],
    ["25:00", "not a time I can read"],
    ["14:05Z", "not a time I can read"],
    ["2026-02-30 10:00", "There is no day 2026-02-30."],
    ["2026-03-29 02:30", "2026-03-29 02:30 did not exist in Europe/Madrid"],
    [
      "2026-10-25 02:30",
      "2026-10-25 02:30 was twice in Europe/Madrid, as the clocks were put back. Write 2026-10-25T00:30Z or 2026-10-25T01:30Z.",
    ],
  ])("%j is refused: %s", async (text, problem) => {
    await expect(read(text)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining(problem),
    });
  });

  it("an unknown zone is refused", async () => {
    await expect(read("14:05", { zone: "Mars/Olympus" })).rejects.toThrow("not a time zone");
  });

  it("are shown in UTC and in the zone", () => {
    const at = Date.parse("2026-11-20T23:30:00Z");
    expect(showMoment(at, "Europe/Madrid")).toBe(
      "2026-11-20 23:30 UTC (2026-11-21 00:30 Europe/Madrid)",
    );
    expect(showMoment(at, "Europe/London")).toBe("2026-11-20 23:30 UTC (23:30 Europe/London)");
    expect(showMoment(at, "UTC")).toBe("2026-11-20 23:30 UTC");
  });
});

test("what a zone's clock shows is read as that moment, unless it shows it twice", async () => {
  const instants = fc.integer({ min: Date.parse("2016-01-01Z"), max: Date.parse("2026-01-01Z") });
  const zones = fc.constantFrom(
    "Europe/Madrid",
    "America/Havana",
    "Australia/Lord_Howe",
    "Asia/Kolkata",
  );
  await fc.assert(
    fc.asyncProperty(instants, zones, async (instant, zone) => {
      const at = Math.floor(instant / 1_000) * 1_000;
      const parts = { timeZone: zone, dateStyle: "short", timeStyle: "medium" } as const;
      const written = new Intl.DateTimeFormat("sv-SE", parts).format(at);
      const found = await readMoment(written, { zone, now: here.now }).catch(String);
      if (typeof found === "string") expect(found).toContain("was twice");
      else expect(found).toBe(at);
    }),
    { numRuns: 300 },
  );
});

test("durations are rounded to the last unit that is shown", () => {
  const minute = 60_000;
  const cases: [number, string][] = [
    [0, "0 s"],
    [59_499, "59 s"],
    [59_500, "1 min"],
    [48 * minute, "48 min"],
    [119.4 * minute, "119 min"],
    [119.5 * minute, "2 h"],
    [192 * minute, "3 h 12 min"],
    [48 * 60 * minute - 1, "2 d"],
    [51 * 60 * minute, "2 d 3 h"],
  ];
  for (const [ms, text] of cases) expect(showDuration(ms), String(ms)).toBe(text);
});

test("elapsed time and sizes are said in the units that fit, times never rounded up", () => {
  const minute = 60_000;
  expect(
    [0.44, 34.9, 1_590, minute - 1, 200_000, 48 * 60 * minute - 1, 51 * 60 * minute].map(
      formatElapsed,
    ),
  ).toEqual(["0.4 ms", "34 ms", "1.5 s", "59.9 s", "3 min 20 s", "47 h 59 min", "2 d 3 h"]);
  expect([1, 1_023, 1_024, 1_536, 20 * 1_024 ** 3, 1_024 ** 6].map(formatBytes)).toEqual([
    "1 byte",
    "1023 bytes",
    "1 KiB",
    "1.5 KiB",
    "20 GiB",
    "1024 PiB",
  ]);
});
