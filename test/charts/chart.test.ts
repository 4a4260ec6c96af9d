import { inflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { type BarChart, drawChart, type LineChart } from "../../src/charts/chart.ts";

const START = Date.parse("2026-11-23T11:00:00Z");
const times = Array.from({ length: 60 }, (_, at) => START + at * 60_000);

function chartOf(changes: Partial<LineChart> = {}): LineChart {
  const lines = [
    { name: "api", times, values: times.map((_, at) => (at < 30 ? 1 : 9)) },
    { name: "web", times, values: times.map((_, at) => (at > 10 && at < 20 ? Number.NaN : 4)) },
  ];
  return {
    kind: "lines",
    title: "errors per second",
    start: START,
    end: START + 3_600_000,
    lines,
    ...changes,
  };
}

const draw = async (chart: LineChart | BarChart) =>
  Buffer.from(await drawChart(chart, new AbortController().signal));

/** Of a PNG with one byte for each of red, green, blue and alpha. */
function sizeOf(png: Buffer): { width: number; height: number; bytes: number } {
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  const data: Buffer[] = [];
  for (let at = 8; at < png.length; at += png.readUInt32BE(at) + 12) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT")
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const bytes = inflateSync(Buffer.concat(data)).length;
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20), bytes };
}

test("a chart is a PNG for a phone's width, with text in a font of ours", async () => {
  const whole = await draw(chartOf());
  expect(sizeOf(whole)).toMatchObject({ width: 1_000 });
  expect(sizeOf(whole).height).toBeLessThan(1_200);
  // Without a font the title would be nothing, whatever it says.
  expect((await draw(chartOf({ title: "xxxxxx xxx xxxxxx" }))).equals(whole)).toBe(false);
});

test("names and titles of others are drawn as they are, whatever they hold", async () => {
  const [line] = chartOf().lines;
  if (line === undefined) throw new Error("no line");
  const name = `"]; throw 1; //<svg onload=x>&lt;{{a}}`;
  const lines = [
    { ...line, name },
    { ...line, name },
  ];
  const title = `${"word ".repeat(40)}${"x".repeat(400)}<image href="http://127.0.0.1:1/x.png"/>`;
  expect(sizeOf(await draw(chartOf({ lines, title }))).width).toBe(1_000);
});

test("a line of one point, of none and of no number are drawn", async () => {
  const lines = [
    { name: "one", times: [START], values: [5] },
    { name: "none", times: [], values: [] },
    // Native code ended the process over these.
    { name: "long before", times: [0, 1_000], values: [1, 1 / 3] },
    { name: "no number", times: [START], values: [Number.POSITIVE_INFINITY] },
  ];
  expect(sizeOf(await draw(chartOf({ lines }))).width).toBe(1_000);
});

test("a chart that is stopped ends at once", async () => {
  await expect(drawChart(chartOf(), AbortSignal.abort())).rejects.toThrow("aborted");
});

const bars: BarChart = {
  kind: "bars",
  title: "Incidents, last week",
  axis: "day, Europe/Madrid",
  parts: ["Mon\n9 Nov", "Tue\n10 Nov", "Wed\n11 Nov"],
  panels: [
    {
      title: "Opened per day",
      series: [
        { name: "sev1", rank: 0, values: [1, 0, 2] },
        { name: "not said", rank: 4, values: [0, 3, 1] },
      ],
    },
    {
      title: "Median time to resolve, minutes",
      series: [{ name: "median", values: [0, 48, 9.5] }],
    },
  ],
};

test("bars of days are a PNG for a phone's width, in which each text and value shows", async () => {
  const whole = await draw(bars);
  expect(sizeOf(whole)).toMatchObject({ width: 1_000 });
  expect(sizeOf(whole).height).toBeLessThan(1_300);
  const [opened, resolved] = bars.panels;
  if (opened === undefined || resolved === undefined) throw new Error("no panels");
  const others: BarChart[] = [
    { ...bars, title: "Incidents, another week" },
    { ...bars, parts: ["Mon\n9 Nov", "Tue\n10 Nov", "Wed\n18 Nov"] },
    { ...bars, panels: [opened, { ...resolved, series: [{ name: "m", values: [0, 47, 9.5] }] }] },
    { ...bars, panels: [opened] },
  ];
  for (const other of others) expect((await draw(other)).equals(whole)).toBe(false);
}, 60_000);

test("a year of weeks, names of others and values of no number are drawn", async () => {
  const parts = Array.from({ length: 53 }, (_, at) => `${at}"]; throw 1;\n<svg>`);
  const values = parts.map((_, at) => (at === 0 ? 123_456 : at === 1 ? Number.NaN : -at));
  const series = [{ name: `"]; throw 1; //`, rank: 9, values }];
  const title = `${"word ".repeat(40)}<image href="http://127.0.0.1:1/x.png"/>`;
  const many = { ...bars, title, axis: "week", parts, panels: [{ title, series }] };
  expect(sizeOf(await draw(many)).width).toBe(1_000);
  expect(sizeOf(await draw({ ...bars, panels: [{ title: "none", series: [] }] })).width).toBe(
    1_000,
  );
});
