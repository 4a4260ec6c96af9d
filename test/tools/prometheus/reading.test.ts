import { describe, expect, test } from "vitest";
import { readPast, tryDuration } from "../../../src/core/past.ts";
import { nearest } from "../../../src/core/nearest.ts";
import { namesIn } from "../../../src/tools/prometheus/near.ts";
import { formatValue, stepFor, summaryOf } from "../../../src/tools/prometheus/numbers.ts";
import { narrowed, selectorOf } from "../../../src/tools/prometheus/selector.ts";

describe("names in a query", () => {
  test.each([
    ["up", ["up"]],
    [
      'sum by (job, code) (rate(a_total{x="y"}[5m])) / on(job) group_left b:rate offset 5m',
      ["a_total", "b:rate"],
    ],
    [
      "histogram_quantile(0.9, sum without (pod) (rate(h_bucket[1m]))) > bool 5 and inf",
      ["h_bucket"],
    ],
    ['count({__name__=~"a.*"}) + c @ start()', ["c"]],
    ['{__name__="quoted name"}', ["quoted name"]],
    ['label_replace(up, "a", "not_a_metric", "b", "")', ["up"]],
    ["max_over_time(up[1h:5m] offset -1d)", ["up"]],
  ])("%s", (query, metrics) => {
    expect(namesIn(query).metrics).toEqual(metrics);
  });

  test("the values that labels must have are told with their metric", () => {
    expect(namesIn('up{job="a",code!="b",pod=~"c"}').matchers).toEqual([
      { metric: "up", label: "job", value: "a" },
    ]);
  });
});

test.each([
  ["90s", 90_000],
  ["1h30m", 5_400_000],
  ["2 days", 172_800_000],
  ["1.5h", 5_400_000],
  ["10 min", 600_000],
  ["3 months", undefined],
  ["14:05", undefined],
  ["", undefined],
])("%j is a length of %s ms", (text, ms) => {
  expect(tryDuration(text)).toBe(ms);
});

test("a time of the past is a length before now, or a time", async () => {
  const here = { zone: "Europe/Madrid", now: Date.parse("2026-11-23T12:00:00Z") };
  const read = async (text: string) =>
    new Date(await readPast(text, here)).toISOString().slice(11, 16);
  expect(await read("1h ago")).toBe("11:00");
  expect(await read("30m")).toBe("11:30");
  expect(await read("11:05")).toBe("10:05");
  await expect(read("soon")).rejects.toMatchObject({ code: "INPUT_INVALID" });
});

test.each([
  [0.92314, "", "0.9231"],
  [12_345, "", "12.35k"],
  [-1_500_000, "", "-1.5M"],
  [0.00001234, "", "1.23e-5"],
  [1_610_612_736, "memory_bytes", "1.5 GiB"],
  [1_795_435_200, "process_start_time_seconds", "2026-11-23T12:00:00Z"],
  [Number.NaN, "", "NaN"],
  [Number.NEGATIVE_INFINITY, "", "-Inf"],
])("%s of %j is shown as %s", (value, metric, shown) => {
  expect(formatValue(value, metric)).toBe(shown);
});

test("a line moved where its level changed, and not by noise or for one outlier", () => {
  const lineOf = (value: (at: number) => number) => ({
    labels: {},
    times: Array.from({ length: 100 }, (_, at) => at),
    values: Array.from({ length: 100 }, (_, at) => value(at)),
  });
  const noise = (at: number) => ((at * 7_919) % 13) / 13;
  expect(summaryOf(lineOf((at) => (at < 70 ? 10 : 20) + noise(at)))?.moved?.at).toBe(70);
  expect(summaryOf(lineOf((at) => 10 + noise(at)))?.moved).toBeUndefined();
  expect(summaryOf(lineOf((at) => (at === 50 ? 15 : 10)))?.moved).toBeUndefined();
  expect(summaryOf(lineOf(() => Number.NaN))).toBeUndefined();
});

test("a range has at most so many points, at a usual step", () => {
  expect(
    [600, 3_600, 86_400, 30 * 86_400].map((seconds) => stepFor(seconds * 1_000, 120) / 1_000),
  ).toEqual([5, 30, 900, 21_600]);
});

test.each([
  [undefined, '{__name__=~".+",a="b"}'],
  ['{job="x"}', '{job="x",a="b"}'],
  ['up{job="x",}', 'up{job="x",a="b"}'],
  ["up{}", 'up{a="b"}'],
  ['http er"rors', '{__name__=~"(?i).*http.*er.rors.*",a="b"}'],
])("what is meant by %j is a selector", (text, selector) => {
  expect(narrowed(selectorOf(text), 'a="b"')).toBe(selector);
});

test("near names are spelled almost so, or share most words", () => {
  const names = ["http_requests_total", "http_request_duration_seconds", "up", "node_load1"];
  expect(nearest("http_request_total", names)).toEqual([
    "http_requests_total",
    "http_request_duration_seconds",
  ]);
  expect(nearest("completely_else", names)).toEqual([]);
});
