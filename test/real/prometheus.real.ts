import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/entry.ts";
import { alertmanager } from "../../src/tools/alertmanager/integration.ts";
import { prometheus } from "../../src/tools/prometheus/integration.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { emptyAlertmanager, serveAlertmanager } from "../fakes/alertmanager.ts";
import { servePrometheus } from "../fakes/prometheus.ts";
import { prepare, run } from "../tools/calling.ts";
import { listenHttp } from "../tools/network/servers.ts";
import { type Metrics, startMetrics } from "./metrics.ts";
import { NOTHING_LENT } from "../../src/tools/registry.ts";

let metrics: Metrics;
beforeAll(async () => {
  metrics = await startMetrics();
});
afterAll(() => metrics.close());

async function metricTools(url: string): Promise<readonly Tool[]> {
  return prometheus.tools(prometheus.settings.parse({ url }), NOTHING_LENT);
}

async function alertTools(): Promise<readonly Tool[]> {
  return alertmanager.tools(
    alertmanager.settings.parse({ url: metrics.alertmanager }),
    NOTHING_LENT,
  );
}

describe.each(["prometheus", "victoria"] as const)("%s", (which) => {
  const ask = async (name: string, args: JsonObject) =>
    run(await metricTools(metrics[which]), `prometheus_${name}`, args);

  test("answers a query, and draws a range", async () => {
    const { text } = await ask("query", { query: "up" });
    expect(text).toMatch(/^3 series at .*; all of them: up\n- 1 [^]*- 0 .*job=gone$/);
    const { text: did, images } = await ask("query", { query: "sum(up)", since: "1m" });
    expect(did).toMatch(/1 series over 1 min.*\n- \(no labels\): /);
    expect(images).toMatchObject([{ mediaType: "image/png", unseen: true }]);
    expect(images?.[0]?.bytes.length).toBeGreaterThan(5_000);
  });

  test("says what is wrong with a query, and what was meant", async () => {
    expect(await ask("query", { query: "up{" })).toMatchObject({ failed: true });
    expect((await ask("query", { query: 'upp{job="nod"}' })).text).toContain("Did you mean up?");
    expect((await ask("query", { query: 'up{job="nod"}' })).text).toContain("Did you mean node?");
  });

  test("tells which target is down and why", async () => {
    const { text, findings } = await ask("targets", {});
    expect(text).toMatch(/^3 targets: 1 down\.\n- gone: 0 of 1 up/);
    expect(findings).toMatchObject([{ cause: expect.stringContaining("connection refused") }]);
  });

  test("finds metrics and tells their labels", async () => {
    expect((await ask("search", { text: "node cpu seconds" })).text).toContain(
      "- node_cpu_seconds_total",
    );
    const { text } = await ask("search", { text: "node_cpu_seconds_total" });
    expect(text).toMatch(/^node_cpu_seconds_total: \d+ series now[^]*- mode \(8\): idle/);
  });

  test("has percentiles of its own requests, and tells what moved", async () => {
    const metric = "prometheus_http_request_duration_seconds";
    await expect
      .poll(async () => (await ask("percentiles", { metric, window: "1m" })).text)
      .toMatch(/- p50 0\.\d+ s \(.*\), .*\/s/);
    const { text, failed } = await ask("changes", { at: "31s", window: "1m" });
    expect(failed).toBeUndefined();
    expect(text).toMatch(/series of .*: \d+ moved|No series matches/);
  });
});

test("Prometheus' alerts are findings; VictoriaMetrics says where its rules may be", async () => {
  const { findings, text } = await run(
    await metricTools(metrics.prometheus),
    "prometheus_alerts",
    {},
  );
  expect(text).toMatch(/^1 firing, 0 pending; 1 alerting rule\./);
  expect(findings).toMatchObject([
    { object: { name: "TargetDown" }, cause: "gone does not answer", severity: "error" },
  ]);
  const { gaps } = await run(await metricTools(metrics.victoria), "prometheus_alerts", {});
  expect(gaps).toMatchObject([{ what: "alerting rules" }]);
});

test("a silence is shown, made, read back, ended, and its alert fires again", async () => {
  const fires = async () => (await run(await alertTools(), "alertmanager_alerts", {})).text;
  expect(await fires()).toMatch(/^1 firing, 0 silenced/);
  const written = {
    matchers: ["alertname=TargetDown", 'job=~"go.+"'],
    duration: "1h",
    comment: "a move",
  };
  const { tool, args, ctx } = prepare(await alertTools(), "alertmanager_silence", written);
  await tool.precheck?.(args, ctx);
  expect((await tool.preview?.(args, ctx))?.blastRadius).toMatch(
    /^Hides 1 of 1 firing alert, 1 of them critical/,
  );
  const startedAt = Date.now();
  const { text } = await tool.run(args, ctx);
  expect(await tool.verify?.(args, ctx, startedAt)).toMatchObject({ verdict: "done" });
  await expect.poll(fires).toMatch(/^0 firing, 1 silenced[^]*by ana \(Watchkeeper\) \("a move"\)/);

  const id = /Its id: (\S+)/.exec(text)?.[1] ?? "";
  const end = prepare(await alertTools(), "alertmanager_expire_silence", { id });
  expect((await end.tool.preview?.(end.args, end.ctx))?.blastRadius).toMatch(
    /^1 firing alert will notify again/,
  );
  await end.tool.run(end.args, end.ctx);
  expect(await end.tool.verify?.(end.args, end.ctx, Date.now())).toMatchObject({ verdict: "done" });
  await expect.poll(fires).toMatch(/^1 firing, 0 silenced/);
});

/** What a server says to it, without what differs from one request to the next. */
async function said(origin: string, path: string, init?: RequestInit): Promise<unknown> {
  const response = await fetch(origin + path, init);
  return { status: response.status, text: (await response.text()).trim() };
}

test("the fake Prometheus refuses what the real one refuses, in its words", async () => {
  const fake = `http://127.0.0.1:${await listenHttp(servePrometheus({}))}`;
  for (const path of [
    "query?query=up{",
    "query?query=rate(up)",
    "query",
    "query?query=up&time=bad",
    "query?query=up&timeout=x",
    "query_range?query=up&start=1&end=2&step=0",
    "query_range?query=up&start=1&end=2",
    "query_range?query=up&start=0&end=100000000&step=1",
    "query_range?query=up&start=5&end=2&step=1",
    "label/b-d/values",
    "label/job/values?match[]=up{",
    "nope",
  ]) {
    const asked = `/api/v1/${path}`;
    expect(await said(fake, asked), path).toEqual(await said(metrics.prometheus, asked));
  }
});

test("the fake Alertmanager refuses what the real one refuses, in its words", async () => {
  const fake = `http://127.0.0.1:${await listenHttp(serveAlertmanager(emptyAlertmanager()))}`;
  const id = "11111111-1111-4111-8111-111111111111";
  const from = new Date(Date.now() + 3_600_000).toISOString();
  const to = new Date(Date.now() + 7_200_000).toISOString();
  const silence = {
    matchers: [{ name: "a", value: ".*", isRegex: true, isEqual: true }],
    startsAt: from,
    endsAt: to,
    createdBy: "me",
    comment: "x",
  };
  const post = (body: object) => ({
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const asked: [path: string, init?: RequestInit][] = [
    ["alerts?filter=foo"],
    ["silence/none"],
    [`silence/${id}`],
    [`silence/${id}`, { method: "DELETE" }],
    ["nope"],
    ["silences", post({ ...silence, matchers: [] })],
    ["silences", post(silence)],
    ["silences", post({ ...silence, startsAt: to, endsAt: from })],
    ["silences", post({ ...silence, comment: undefined })],
  ];
  for (const [path, init] of asked) {
    const whole = `/api/v2/${path}`;
    expect(await said(fake, whole, init), path).toEqual(
      await said(metrics.alertmanager, whole, init),
    );
  }
});
