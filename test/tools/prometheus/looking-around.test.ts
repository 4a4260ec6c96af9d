import { beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/entry.ts";
import { createEncoder } from "../../../src/security/encoder.ts";
import { prometheus } from "../../../src/tools/prometheus/integration.ts";
import { type FakePrometheus, servePrometheus } from "../../fakes/prometheus.ts";
import { type Calling, run } from "../calling.ts";
import { listenHttp } from "../network/servers.ts";
import { NOTHING_LENT } from "../../../src/tools/registry.ts";

const NOW = Date.parse("2026-11-23T12:00:00Z");

let fake: FakePrometheus;
let asked: string[];
beforeEach(() => {
  fake = {};
  asked = [];
});

async function ask(name: string, args: JsonObject, calling?: Calling) {
  const port = await listenHttp(servePrometheus(fake, asked));
  const settings = prometheus.settings.parse({ url: `http://127.0.0.1:${port}` });
  const tools = await prometheus.tools(settings, NOTHING_LENT);
  return run(tools, `prometheus_${name}`, args, { at: NOW, ...calling });
}

describe("what moved around a time", () => {
  const AT = NOW / 1_000 - 1_800;
  const steps = ({ start, end, step }: { start: number; end: number; step: number }) =>
    Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, at) => start + at * step);

  test("ranks by how clearly the windows differ, counters as rates, one row for each metric", async () => {
    fake.instant = () => [[{}, 5]];
    fake.range = (_, range) => [
      [{ __name__: "queue_length", job: "api" }, steps(range).map((t) => [t, t > AT ? 90 : 10])],
      [
        { __name__: "errors_total", job: "api", code: "500" },
        steps(range).map((t) => [t, t > AT ? (t - AT) * 7 : 0]),
      ],
      [
        { __name__: "errors_total", job: "api", code: "502" },
        steps(range).map((t) => [t, t > AT ? (t - AT) * 3 : 0]),
      ],
      [{ __name__: "memory_bytes", job: "api" }, steps(range).map((t, at) => [t, 1e9 + at])],
      [
        { __name__: "pool_info", job: "api" },
        steps(range).flatMap((t) => (t > AT ? [[t, 1]] : [])),
      ],
      [{ __name__: "old_info", job: "api" }, steps(range).flatMap((t) => (t > AT ? [] : [[t, 1]]))],
    ];
    const { text } = await ask("changes", { at: "11:30", match: '{job="api"}' });
    const [head, ...rows] = text.split("\n");
    expect(head).toBe(
      'Around 2026-11-23 11:30:00 UTC (30 min ago): 15 min before against 15 min after, 6 series of {job="api"}: 3 moved.; all of them: job=api'.replace(
        ".;",
        ".;",
      ),
    );
    expect(rows).toEqual([
      "- 0/s → 7/s  errors_total code=500; 1 more of this metric moved",
      "- 10 → 90, ×9  queue_length",
      "Only after it: 1 series, most of pool_info",
      "Only before it: 1 series, most of old_info",
    ]);
    expect(asked.some((url) => url.includes('{job="api",__name__!~".+_bucket"}'))).toBe(true);
  });

  test("is noise where nothing stands out", async () => {
    fake.instant = () => [[{}, 1]];
    fake.range = (_, range) => [
      [{ __name__: "noise" }, steps(range).map((t, at) => [t, 10 + (at % 3)])],
    ];
    expect((await ask("changes", { at: "30m" })).text).toMatch(/1 series of .*: 0 moved\.$/);
  });

  test("takes words of a metric's name, and a time just now is too early", async () => {
    fake.instant = () => [[{}, 1]];
    await ask("changes", { at: "30m", match: "http errors" });
    expect(asked.join()).toContain('{__name__=~"(?i).*http.*errors.*",__name__!~".+_bucket"}');
    await expect(ask("changes", { at: "now" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  test("of ten thousand series reads fewer points of each, of a million none", async () => {
    fake.instant = () => [[{}, 10_000]];
    fake.range = (_, range) => {
      expect(steps(range).length).toBeLessThanOrEqual(18);
      return Array.from({ length: 10_000 }).map((_metric, at) => [
        { __name__: `m${at % 50}`, pod: `p${at}` },
        steps(range).map((t) => [t, at === 4_242 && t > AT ? 9 : 1]),
      ]);
    };
    const { text } = await ask("changes", { at: "11:30" });
    expect(text).toMatch(/10000 series.*: 1 moved[^]*1 → 9, ×9 {2}m42 pod=p4242/);
    fake.instant = (query) =>
      query.startsWith("topk") ? [[{ __name__: "big" }, 900_000]] : [[{}, 1e6]];
    const { text: refused, failed } = await ask("changes", { at: "11:30" });
    expect(failed).toBe(true);
    expect(refused).toMatch(/1000000 series match, too many to compare[^]*- 900000 {2}big/);
  });
});

describe("percentiles", () => {
  test("come with those of the window before, and the busiest label first", async () => {
    const figures = (scale: number, labels: Record<string, string>, rate: number) => [
      ...[0.1, 0.5, 0.8, 2].map((value, at): [Record<string, string>, number] => [
        { ...labels, watchkeeper_figure: ["p50", "p90", "p95", "p99"][at] ?? "" },
        value * scale,
      ]),
      [{ ...labels, watchkeeper_figure: "rate" }, rate] as [Record<string, string>, number],
    ];
    fake.instant = (_, at) =>
      at === NOW / 1_000
        ? [...figures(4, { handler: "/slow" }, 2), ...figures(1, { handler: "/" }, 30)]
        : figures(1, { handler: "/slow" }, 2);
    const { text } = await ask("percentiles", {
      metric: 'http_seconds{job="api"}',
      by: ["handler"],
    });
    expect(text).toBe(
      [
        "http_seconds over 5m until 2026-11-23 12:00:00 UTC (now); in brackets the 5m before:",
        "- p50 0.1 s (none), p90 0.5 s (none), p95 0.8 s (none), p99 2 s (none), 30/s (0/s)  handler=/",
        "- p50 0.4 s (0.1 s), p90 2 s (0.5 s), p95 3.2 s (0.8 s), p99 8 s (2 s), 2/s (2/s)  handler=/slow",
      ].join("\n"),
    );
    expect(asked[0]).toContain('sum by (le, handler) (rate(http_seconds_bucket{job="api"}[300s]))');
  });

  test("of what is no histogram name those that are near", async () => {
    fake.metrics = {
      http_request_duration_seconds_bucket: { type: "histogram", help: "" },
      up: { type: "gauge", help: "" },
    };
    const far = await ask("percentiles", { metric: "http_duration_seconds" });
    expect(far.text).toBe(
      "http_duration_seconds does not exist. Did you mean http_request_duration_seconds?",
    );
    expect((await ask("percentiles", { metric: "up" })).text).toContain(
      "is no histogram with buckets",
    );
    expect((await ask("percentiles", { metric: "http_request_duration_seconds" })).text).toContain(
      "No events",
    );
  });
});

describe("alerts and rules", () => {
  const alert = (state: string, labels: object) => ({
    labels: { alertname: "HighLatency", severity: "critical", ...labels },
    annotations: { summary: "p99 above 1 s" },
    state,
    activeAt: "2026-11-23T11:50:00Z",
    value: "1.5e+00",
  });
  const rule = (name: string, changes: object) => ({
    name,
    query: "latency > 1",
    duration: 120,
    labels: { severity: "critical" },
    annotations: { runbook: "https://runbooks.example.com/latency" },
    alerts: [],
    health: "ok",
    type: "alerting",
    state: "inactive",
    ...changes,
  });

  test("what fires is a finding for each rule, what is pending or fails a row", async () => {
    const firing = ["a", "b", "c", "d"].map((pod) => alert("firing", { namespace: "shop", pod }));
    const rules = [
      rule("HighLatency", { alerts: firing }),
      rule("Soon", { labels: {}, alerts: [alert("pending", { pod: "z" })] }),
      rule("Broken", { health: "err", lastError: "found duplicate series" }),
    ];
    fake.groups = [{ name: "shop", rules }];
    const { text, findings } = await ask("alerts", {});
    expect(findings).toEqual([
      {
        object: { kind: "Alert", namespace: "shop", name: "HighLatency" },
        cause: "p99 above 1 s",
        severity: "error",
        evidence:
          "value 1.5, rule latency > 1; ×4 (all: severity=critical namespace=shop): pod=a; pod=b; pod=c; and 1 more",
        since: "2026-11-23T11:50:00Z",
      },
    ]);
    expect(text).toBe(
      [
        "4 firing, 1 pending; 3 alerting rules, 1 of all rules fail.",
        "- pending Soon severity=critical pod=z, since 2026-11-23 11:50:00 UTC (10 min ago)",
        "- rule Broken fails: found duplicate series",
      ].join("\n"),
    );
  });

  test("a rule is shown with its expression, by a part of its name too", async () => {
    fake.groups = [{ name: "shop", rules: [rule("HighLatency", {})] }];
    const { text } = await ask("alerts", { rule: "latency" });
    expect(text).toMatch(
      /^HighLatency \(alerting rule, inactive, group shop\)\n {2}latency > 1 for 2 min\n/,
    );
    const none = await ask("alerts", { rule: "HighLatencyy" });
    expect(none).toMatchObject({
      failed: true,
      text: expect.stringContaining("Did you mean HighLatency?"),
    });
  });

  test("a server that evaluates none says where they may be", async () => {
    const { gaps } = await ask("alerts", {});
    expect(gaps).toMatchObject([
      { what: "alerting rules", help: expect.stringContaining("vmalert") },
    ]);
  });
});

describe("targets", () => {
  const target = (instance: string, lastError = "") => ({
    labels: { instance, job: "node" },
    scrapePool: "node",
    scrapeUrl: `http://${instance}/metrics`,
    health: lastError === "" ? "up" : "down",
    lastError,
    lastScrape: "2026-11-23T11:59:50Z",
  });

  test("that are down for one reason are one finding", async () => {
    const refused = (instance: string) =>
      target(instance, `Get "http://${instance}/metrics": connection refused`);
    fake.targets = [target("a:1"), refused("b:1"), refused("c:1")];
    const { text, findings } = await ask("targets", {});
    expect(text).toBe("3 targets: 2 down.\n- node: 1 of 3 up");
    expect(findings).toMatchObject([
      {
        object: { kind: "Target", name: "b:1" },
        cause: 'Get "http://b:1/metrics": connection refused',
        evidence:
          "2 targets down: node b:1, node c:1, last tried 2026-11-23 11:59:50 UTC (10 s ago)",
      },
    ]);
  });

  test("are matched only after secrets are out of them", async () => {
    fake.targets = [target("a:1/hunter2-held-value")];
    const encoder = createEncoder([{ name: "PASSWORD", value: "hunter2-held-value" }]);
    const { text } = await ask("targets", { match: "hunter2-held" }, { encoder });
    expect(text).toBe("0 targets, of 1 in all: 0 down.");
  });

  test("may be ten thousand", async () => {
    fake.targets = Array.from({ length: 10_000 }, (_, at) => target(`h${at}:1`));
    expect((await ask("targets", { match: "h77:" })).text).toBe(
      "1 target, of 10000 in all: 0 down.\n- all up: node 1",
    );
  });
});

describe("a search", () => {
  test("finds metrics by name, then by help, and values of labels that name things", async () => {
    fake.metrics = {
      http_errors_total: { type: "counter", help: "Failed requests." },
      http_request_errors_total: { type: "counter", help: "More." },
      other: { type: "gauge", help: "http and errors" },
    };
    fake.labels = { job: ["http-errors", "api"] };
    const { text } = await ask("search", { text: "http errors" });
    expect(text).toBe(
      [
        "3 of 3 metrics match.",
        "- http_errors_total (counter) Failed requests.",
        "- http_request_errors_total (counter) More.",
        "- other (gauge) http and errors",
        'Label job: "http-errors"',
      ].join("\n"),
    );
  });

  test("of a metric's name tells its type, labels and how many values they have", async () => {
    fake.metrics = { up: { type: "gauge", help: "Whether it is up." } };
    fake.labels = { job: ["a", "b"], pod: Array.from({ length: 40 }, (_, at) => `p${at}`) };
    fake.instant = () => [[{}, 80]];
    const { text } = await ask("search", { text: "up" });
    expect(text).toBe(
      "up: 80 series now, gauge: Whether it is up.\n- job (2): a, b\n- pod (40): p0, p1, p2, p3, p4, …",
    );
  });

  test("of a metric of which nothing is told says that", async () => {
    fake.metrics = { up: {} as never };
    expect((await ask("search", { text: "up" })).text).toMatch(/^up: 0 series now, of no type/);
  });

  test("that finds nothing names what is near", async () => {
    fake.metrics = { http_requests_total: { type: "counter", help: "" } };
    expect((await ask("search", { text: "htpp_requests_total" })).text).toContain(
      "Did you mean http_requests_total?",
    );
  });
});
