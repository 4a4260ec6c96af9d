import { beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/entry.ts";
import { createEncoder } from "../../../src/security/encoder.ts";
import { prometheus } from "../../../src/tools/prometheus/integration.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { type FakePrometheus, servePrometheus } from "../../fakes/prometheus.ts";
import { type Calling, run } from "../calling.ts";
import { listenHttp, listenRaw } from "../network/servers.ts";
import { NOTHING_LENT } from "../../../src/tools/registry.ts";

const NOW = Date.parse("2026-11-23T12:00:00Z");
const TOKEN = "Zt9-qLw27_KfPz4RbNcTy83HmVdSa6EjUoGi1Qls";

let fake: FakePrometheus;
let asked: string[];
beforeEach(() => {
  fake = {};
  asked = [];
});

async function toolsAt(url: string, token?: string): Promise<readonly Tool[]> {
  const settings = prometheus.settings.parse({ url, token });
  return prometheus.tools(settings, NOTHING_LENT);
}

async function ask(name: string, args: JsonObject, calling?: Calling & { token?: string }) {
  const port = await listenHttp(servePrometheus(fake, asked));
  const tools = await toolsAt(`http://127.0.0.1:${port}/prom`, calling?.token);
  return run(tools, `prometheus_${name}`, args, { at: NOW, ...calling });
}

const pods = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ __name__: "up", job: "api", pod: `api-${at}` }));

describe("a query at a moment", () => {
  test("tells the values, largest first, and what all series share once", async () => {
    fake.instant = () => pods(3).map((metric, at) => [metric, at]);
    const { text } = await ask("query", { query: "up", at: "11:30" });
    expect(text).toBe(
      [
        "3 series at 2026-11-23 11:30:00 UTC (30 min ago); all of them: up job=api",
        "- 2  pod=api-2",
        "- 1  pod=api-1",
        "- 0  pod=api-0",
      ].join("\n"),
    );
    expect(asked).toEqual([`/prom/api/v1/query?query=up&time=${NOW / 1_000 - 1_800}&timeout=20s`]);
  });

  test("of a thousand series with two values tells the rare one first, and each of its series", async () => {
    fake.instant = () => pods(1_000).map((metric, at) => [metric, at === 77 ? 0 : 1]);
    const { text } = await ask("query", { query: "up" });
    expect(text).toMatch(
      /1000 series.*\n0: 1 series\n- 0 {2}pod=api-77\n1: 999 series, of which 9/,
    );
    expect(text.length).toBeLessThan(1_000);
  });

  test("of ten thousand series tells the ten largest, the median and the least", async () => {
    fake.instant = () => pods(10_000).map((metric, at) => [metric, at / 10]);
    const { text } = await ask("query", { query: "lag" });
    expect(text).toMatch(
      /^10000 series[^]*- 999.9 {2}pod=api-9999\n[^]*and 9990 more; median 499.9, least 0$/,
    );
    expect(text.split("\n")).toHaveLength(12);
  });

  test("of more than is read of one answer asks for the largest and the count", async () => {
    const wide = { pod: "p".repeat(2_000) };
    fake.instant = (query) => {
      if (query === "count(lag)") return [[{}, 60_000]];
      const metrics = query === "topk(10, lag)" ? pods(10) : pods(4_000);
      return metrics.map((metric, at) => [{ ...metric, pod: `${wide.pod}${at}` }, at]);
    };
    const { text } = await ask("query", { query: "lag" });
    expect(text).toMatch(/^60000 series[^]*and 59990 more\b/);
  });

  test.each([
    [{ resultType: "scalar", result: [1, "42"] }, "- 42  (no labels)"],
    [{ resultType: "string", result: [1, "hello"] }, "hello"],
    [
      {
        resultType: "matrix",
        result: [
          {
            metric: { a: "b" },
            values: [
              [1, "3"],
              [2, "+Inf"],
            ],
          },
        ],
      },
      "- +Inf  a=b",
    ],
  ])("reads %j", async (result, line) => {
    fake.instant = () => result;
    expect((await ask("query", { query: "x" })).text).toContain(line);
  });

  test("that is wrong gives the server's own words, as a failure", async () => {
    const { text, failed } = await ask("query", { query: "rate(up)" });
    expect(failed).toBe(true);
    expect(text).toContain("1:6: parse error: expected type range vector in call to function");
  });

  test("that finds nothing tells the name or value that does not exist, and which was meant", async () => {
    fake.metrics = { http_requests_total: { type: "counter", help: "Requests." } };
    fake.labels = { job: ["api", "web"] };
    const missing = await ask("query", { query: "sum by (job) (rate(http_request_total[5m]))" });
    expect(missing.text).toContain(
      'There is no metric "http_request_total". Did you mean http_requests_total?',
    );
    const value = await ask("query", { query: 'http_requests_total{job="apj"}' });
    expect(value.text).toContain(
      'No series of http_requests_total has job="apj". Did you mean api?',
    );
    const both = await ask("query", { query: 'http_requests_total{job="api"} > 5' });
    expect(both.text).toContain("Every name in the query exists");
  });

  test("shows hostile labels on their own line, and no secret in them, whole or cut", async () => {
    const held = "hunter2-held-hunter2-held";
    const nasty = {
      job: 'a"}\n- 99  fake="row',
      pod: `${"x".repeat(225)}${held}`,
      "\u202Eevil": "1",
    };
    fake.instant = () => [[nasty, 1]];
    const encoder = createEncoder([{ name: "PASSWORD", value: held }]);
    const { text } = await ask("query", { query: "up" }, { encoder });
    expect(text.split("\n")).toHaveLength(2);
    expect(text).not.toContain("hunter2");
    expect(text).not.toContain("\u202E");
  });

  test("takes a time as people write it, and says how when it cannot read one", async () => {
    await expect(ask("query", { query: "up", at: "yesterdayish" })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("14:05"),
    });
  });
});

describe("a query over a range", () => {
  const line = (start: number, step: number, value: (at: number) => number) =>
    Array.from({ length: 121 }, (_, at): [number, number] => [start + at * step, value(at)]);

  test("tells what each series did and when it moved, and draws a chart that the model does not see", async () => {
    fake.range = (_, { start, step }) => [
      [{ job: "api", pod: "a" }, line(start, step, (at) => (at < 60 ? 1 : 9))],
      [{ job: "api", pod: "b" }, line(start, step, () => 5)],
    ];
    const { text, images } = await ask("query", { query: "rate(errors[5m])", since: "1h" });
    expect(text).toBe(
      [
        "2 series over 1 h, 2026-11-23 11:00:00 to 12:00:00 UTC, step 30 s; all of them: job=api",
        "- pod=a: last 9, min 1, max 9, mean 5.033; moved from 1 to 9 at 2026-11-23 11:30:00 UTC (30 min ago)",
        "- pod=b: 5 all the time",
        "A chart shows it; a terminal tells in words what is on it.",
      ].join("\n"),
    );
    expect(images).toMatchObject([{ name: "chart.png", mediaType: "image/png", unseen: true }]);
    expect(images?.[0]?.alt).toMatch(
      /^Line chart of rate\(errors\[5m\]\) over 1 h, .*pod=a: last 9, min 1, max 9/,
    );
  });

  test("counts `since` from its end", async () => {
    fake.range = (_, { start, end }) => [
      [
        {},
        [
          [start, 1],
          [end, 1],
        ],
      ],
    ];
    const { text } = await ask("query", { query: "up", since: "30m", at: "2026-11-23T10:00:00Z" });
    expect(text).toContain("over 30 min, 2026-11-23 09:30:00 to 10:00:00 UTC");
  });

  test("of too many series says so, and tells the largest at its end", async () => {
    fake.range = () => pods(3_000).map((metric) => [metric, line(0, 1, () => 1 / 3)]);
    fake.instant = () => pods(3).map((metric, at) => [metric, at]);
    const { text, images } = await ask("query", { query: "up", since: "1h" });
    expect(text).toMatch(/^Too many series for a range: aggregate them[^]*3 series at/);
    expect(images).toBeUndefined();
  });

  test("that ends before it begins is refused", async () => {
    const asking = ask("query", { query: "up", since: "2026-11-23T11:30:00Z", at: "11:00" });
    await expect(asking).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

const CALLS: [name: string, args: JsonObject][] = [
  ["query", { query: "up" }],
  ["query", { query: "up", since: "1h" }],
  ["changes", { at: "1h" }],
  ["percentiles", { metric: "latency" }],
  ["alerts", {}],
  ["targets", {}],
  ["search", { text: "errors" }],
];

describe.each(CALLS)("%s %j", (name, args) => {
  test("that is denied says so, and which setting would help", async () => {
    fake.token = TOKEN;
    const { failed, gaps } = await ask(name, args);
    expect(failed).toBe(true);
    expect(gaps).toMatchObject([
      { why: "Prometheus refused with 401", help: expect.stringContaining("PROMETHEUS_TOKEN") },
    ]);
    const encoder = createEncoder([{ name: "PROMETHEUS_TOKEN", value: TOKEN }]);
    const allowed = await ask(name, args, { encoder, token: TOKEN });
    expect(allowed.gaps ?? []).not.toContainEqual(gaps?.[0]);
  });

  test("ends at once when it is stopped while the server is silent", async () => {
    const port = await listenRaw(() => {});
    const stop = AbortSignal.timeout(40);
    const asking = run(await toolsAt(`http://127.0.0.1:${port}`), `prometheus_${name}`, args, {
      signal: stop,
    });
    await expect(asking).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:CONNECTION_FAILED|ABORTED|TIMEOUT)$/),
    });
  });

  test("fails when the answer is cut", async () => {
    const port = await listenRaw((socket) => {
      socket.end(
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{"status":"succ',
      );
    });
    const asking = run(await toolsAt(`http://127.0.0.1:${port}`), `prometheus_${name}`, args);
    await expect(asking).rejects.toMatchObject({ code: "CONNECTION_FAILED" });
  });

  test("says of another server that it does not answer as Prometheus does", async () => {
    const port = await listenHttp((_, response) => response.end("<html>Welcome to nginx!</html>"));
    const { text, failed } = await run(
      await toolsAt(`http://127.0.0.1:${port}`),
      `prometheus_${name}`,
      args,
    );
    expect(failed).toBe(true);
    expect(text).toContain("answered 200, and not as Prometheus does");
  });
});
