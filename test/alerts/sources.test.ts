import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { alertmanager, grafana } from "../../src/alerts/sources/alertmanager.ts";
import { mappedSource } from "../../src/alerts/mapping.ts";
import { datadog } from "../../src/alerts/sources/datadog.ts";
import { opsgenie } from "../../src/alerts/sources/opsgenie.ts";
import { pagerduty } from "../../src/alerts/sources/pagerduty.ts";
import { sentry } from "../../src/alerts/sources/sentry.ts";
import { sns } from "../../src/alerts/sources/sns.ts";
import { isRecord } from "../../src/core/json.ts";
import { publicFiles } from "../public-data.ts";
import { pagerDutySigned, sentrySigned } from "../../src/alerts/signatures.ts";

const SOURCES = [alertmanager, grafana, pagerduty, opsgenie, datadog, sns, sentry];
const AT = Date.parse("2026-11-20T10:00:00Z");

test.each(SOURCES)("what is no request of $name's is refused with its reason", ({ read }) => {
  for (const body of [[], null, 1, "firing", {}, { alerts: 1 }, { alerts: [] }, { event: {} }])
    expect(() => read(body)).toThrow(z.ZodError);
});

describe("Alertmanager and Grafana", () => {
  const one = {
    status: "firing",
    labels: { alertname: "HighErrorRate", severity: "critical", service: "checkout" },
    annotations: { summary: "5xx at 12 %", description: "for 5 minutes", runbook_url: "https://r" },
    startsAt: "2026-11-20T10:00:00Z",
    endsAt: "0001-01-01T00:00:00Z",
    generatorURL: "https://prom.example.com/graph?g0.expr=up",
    fingerprint: "0123456789abcdef",
  };

  test("an alert has its labels, times, links and its own fingerprint", () => {
    expect(alertmanager.read({ version: "4", truncatedAlerts: 2, alerts: [one] })).toEqual({
      alerts: [
        {
          fingerprint: "0123456789abcdef",
          status: "firing",
          name: "HighErrorRate",
          labels: one.labels,
          summary: "5xx at 12 %",
          description: "for 5 minutes",
          startsAt: AT,
          links: [
            { label: "Query", url: one.generatorURL },
            { label: "Runbook", url: "https://r" },
          ],
        },
      ],
      left: 2,
    });
  });

  test("a resolved one has its end; Grafana's has its panel and the way to silence it", () => {
    const silenceURL = "https://grafana.example.com/alerting/silence/new";
    const over = { ...one, status: "resolved", endsAt: "2026-11-20T10:05:00Z", silenceURL };
    const [alert] = grafana.read({ alerts: [over] }).alerts;
    expect(alert).toMatchObject({ status: "resolved", endsAt: AT + 300_000 });
    expect(alert?.links).toContainEqual({ label: "Silence", url: silenceURL });
  });

  test("without a fingerprint it is its labels', in whatever order they come", () => {
    const { fingerprint: _, ...bare } = one;
    const turned = { ...bare, labels: Object.fromEntries(Object.entries(one.labels).toReversed()) };
    const other = { ...bare, labels: { ...one.labels, service: "search" } };
    const [a, b, c] = alertmanager.read({ alerts: [bare, turned, other] }).alerts;
    expect(a?.fingerprint).toBe(b?.fingerprint);
    expect(a?.fingerprint).not.toBe(c?.fingerprint);
  });

  test("what is too long or too much is cut, and counted", () => {
    const long = { ...one, labels: { ...one.labels, stack: "x".repeat(10_000) } };
    const { alerts, left } = alertmanager.read({
      alerts: Array.from({ length: 10_500 }, () => long),
    });
    expect(alerts).toHaveLength(10_000);
    expect(left).toBe(500);
    expect(alerts[0]?.labels["stack"]?.length).toBeLessThanOrEqual(301);
  });

  test("an address that no browser opens is no link", () => {
    const [alert] = alertmanager.read({
      alerts: [{ ...one, generatorURL: "javascript:1" }],
    }).alerts;
    expect(alert?.links).toEqual([{ label: "Runbook", url: "https://r" }]);
  });
});

test("PagerDuty: an incident's states are one alert's; notes and pings are none", () => {
  const data = {
    id: "PGR0VU2",
    type: "incident",
    title: "A little bump in the road",
    status: "triggered",
    html_url: "https://acme.pagerduty.com/incidents/PGR0VU2",
    created_at: "2026-11-20T10:00:00Z",
    service: { id: "PF9KMXH", summary: "API Service", type: "service_reference" },
    priority: { summary: "P1" },
    urgency: "high",
  };
  const event = { id: "5ac64822", event_type: "incident.triggered", occurred_at: data.created_at };
  const said = (more: object) =>
    pagerduty.read({ event: { ...event, data: { ...data, ...more } } });
  expect(said({})).toEqual({
    id: "5ac64822",
    alerts: [
      {
        fingerprint: "PGR0VU2",
        status: "firing",
        name: data.title,
        labels: { service: "API Service", severity: "P1" },
        startsAt: AT,
        links: [{ label: "PagerDuty", url: data.html_url }],
      },
    ],
  });
  expect(said({ status: "acknowledged" }).alerts[0]?.status).toBe("acknowledged");
  expect(said({ status: "resolved" }).alerts[0]).toMatchObject({ status: "resolved", endsAt: AT });
  expect(said({ priority: null }).alerts[0]?.labels["severity"]).toBe("high");
  expect(said({ type: "incident_note" }).alerts).toEqual([]);
});

test("Opsgenie: its tags and details are labels, and what is closed is over", () => {
  const alert = {
    alertId: "8743a1b2",
    message: "CPU is high",
    tags: ["service:web", "noisy"],
    details: { region: "eu-west-1", count: 3 },
    priority: "P2",
    createdAt: AT,
    updatedAt: AT + 1_000,
  };
  expect(opsgenie.read({ action: "Create", alert }).alerts).toEqual([
    {
      fingerprint: "8743a1b2",
      status: "firing",
      name: "CPU is high",
      labels: { region: "eu-west-1", service: "web", severity: "P2" },
      startsAt: AT,
    },
  ]);
  const closed = opsgenie.read({ action: "Close", alert }).alerts[0];
  expect(closed).toMatchObject({ status: "resolved", endsAt: AT + 1_000 });
  expect(opsgenie.read({ action: "AddNote", alert }).alerts).toEqual([]);
});

describe("Datadog", () => {
  test("with a payload of the owner's", () => {
    const said = {
      id: "1234",
      title: "[Triggered on {host:web-1}] CPU is high",
      alert_id: 77,
      alert_transition: "Triggered",
      alert_scope: "host:web-1",
      tags: "env:prod,monitor,service:web",
      priority: "P1",
      link: "https://app.datadoghq.com/event/event?id=1234",
      date: String(AT),
    };
    expect(datadog.read(said)).toEqual({
      id: "1234",
      alerts: [
        {
          fingerprint: "77 host:web-1",
          status: "firing",
          name: "CPU is high",
          labels: { env: "prod", service: "web", host: "web-1", severity: "P1" },
          startsAt: AT,
          links: [{ label: "Datadog", url: said.link }],
        },
      ],
    });
    const over = datadog.read({ ...said, alert_transition: "Recovered" }).alerts[0];
    expect(over).toMatchObject({ fingerprint: "77 host:web-1", status: "resolved", endsAt: AT });
  });

  test.each([
    ["[Triggered on {host:web-1}] CPU is high", "firing"],
    ["[P2] [Re-Triggered] CPU is high", "firing"],
    ["[Recovered on {host:web-1}] CPU is high", "resolved"],
    ["[P1] [No Data] CPU is high", "firing"],
  ])("by the title alone: %s", (title, status) => {
    expect(datadog.read({ title, body: "%%%", event_type: "metric_alert_monitor" }).alerts).toEqual(
      [expect.objectContaining({ name: "CPU is high", status })],
    );
  });
});

test("SNS: a CloudWatch alarm with its dimensions; other words are an alert of their own", () => {
  const message = {
    Type: "Notification",
    MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    TopicArn: "arn:aws:sns:eu-west-1:123456789012:alarms",
    Timestamp: "2026-11-20T10:00:00.000Z",
    SignatureVersion: "2",
    Signature: "EXAMPLE",
    SigningCertURL: "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem",
  };
  const alarm = {
    AlarmName: "db-cpu",
    AlarmArn: "arn:aws:cloudwatch:eu-west-1:123456789012:alarm:db-cpu",
    AlarmDescription: "The database is busy",
    Region: "EU (Ireland)",
    NewStateValue: "ALARM",
    NewStateReason: "Threshold Crossed",
    StateChangeTime: "2026-11-20T10:00:00.000+0000",
    Trigger: {
      MetricName: "CPUUtilization",
      Namespace: "AWS/RDS",
      Dimensions: [{ name: "DBInstanceIdentifier", value: "payments" }],
    },
  };
  const said = (inside: unknown) =>
    sns.read({ ...message, Message: typeof inside === "string" ? inside : JSON.stringify(inside) });
  expect(said(alarm).alerts[0]).toMatchObject({
    fingerprint: alarm.AlarmArn,
    status: "firing",
    name: "db-cpu",
    summary: "The database is busy",
    labels: { DBInstanceIdentifier: "payments", metric: "CPUUtilization" },
    startsAt: AT,
  });
  expect(said({ ...alarm, NewStateValue: "OK" }).alerts[0]).toMatchObject({
    status: "resolved",
    endsAt: AT,
  });
  expect(said("disk is full\nsince now").alerts[0]).toMatchObject({
    fingerprint: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    name: "disk is full",
  });
  expect(sns.read({ ...message, Type: "SubscriptionConfirmation", Message: "…" }).alerts).toEqual(
    [],
  );
});

describe("Sentry", () => {
  test("an issue and its events are one alert", () => {
    const issue = {
      id: "1170820242",
      title: "ReferenceError",
      level: "error",
      project: { slug: "web" },
    };
    const event = {
      event_id: "e4874d664c3540c1a32eab185f12c5ab",
      issue_id: "1170820242",
      title: "ReferenceError",
      tags: [["server_name", "web-1"]],
      datetime: "2026-11-20T10:00:00.000000Z",
    };
    const [first] = sentry.read({ action: "created", data: { issue } }).alerts;
    const [second] = sentry.read({
      action: "triggered",
      data: { event, triggered_rule: "New errors" },
    }).alerts;
    const [last] = sentry.read({ action: "resolved", data: { issue } }).alerts;
    expect([first, second, last]).toMatchObject([
      { fingerprint: "issue 1170820242", status: "firing", labels: { project: "web" } },
      { status: "firing", labels: { server_name: "web-1", rule: "New errors" }, startsAt: AT },
      { status: "resolved" },
    ]);
    expect(new Set([first, second, last].map((each) => each?.fingerprint)).size).toBe(1);
  });

  test("a metric alert; an installation is none", () => {
    const metric_alert = { id: "7", alert_rule: { name: "Latency" }, projects: ["web"] };
    const data = {
      metric_alert,
      description_title: "Critical: Latency",
      web_url: "https://s.io/7",
    };
    expect(sentry.read({ action: "critical", data }).alerts[0]).toMatchObject({
      name: "Latency",
      status: "firing",
      labels: { severity: "critical", project: "web" },
    });
    expect(sentry.read({ action: "resolved", data }).alerts[0]?.status).toBe("resolved");
    expect(sentry.read({ action: "created", data: { installation: {} } }).alerts).toEqual([]);
  });
});

test("PagerDuty and Sentry sign the body with a secret", () => {
  const sign = (secret: string) => createHmac("sha256", secret).update("{}").digest("hex");
  const request = (headers: Record<string, string>) => ({
    headers,
    body: "{}",
    query: new URLSearchParams(),
  });
  const both = { "x-pagerduty-signature": `v1=${sign("old")},v1=${sign("new")}` };
  expect(pagerDutySigned(request(both), "new")).toBeDefined();
  expect(pagerDutySigned(request(both), "other")).toBeUndefined();
  expect(pagerDutySigned(request({}), "new")).toBeUndefined();
  expect(sentrySigned(request({ "sentry-hook-signature": sign("new") }), "new")).toBeDefined();
  expect(sentrySigned(request({ "sentry-hook-signature": "" }), "new")).toBeUndefined();
});

/** What others recorded, where it is there. */
const RECORDED = publicFiles("alerts");

test("recorded webhooks of Alertmanager's form are read", () => {
  const webhooks = RECORDED.map(({ value }) =>
    isRecord(value) && isRecord(value["alert"]) ? value["alert"] : value,
  ).filter((body) => isRecord(body) && Array.isArray(body["alerts"]));
  for (const body of webhooks) {
    const { alerts } = alertmanager.read(body);
    expect(alerts.length).toBeGreaterThan(0);
    for (const { name, fingerprint, labels } of alerts) {
      expect(name).toBe(labels["alertname"]);
      expect(fingerprint).toMatch(/^[0-9a-f]{16}$/);
    }
  }
  if (RECORDED.length > 0) expect(webhooks.length).toBeGreaterThan(5);
});

test("whatever was recorded is read as some alerts, or refused with a reason: by every reader", () => {
  for (const { value } of RECORDED)
    for (const { read } of SOURCES)
      try {
        expect(read(value).alerts).toBeInstanceOf(Array);
      } catch (error) {
        expect(error).toBeInstanceOf(z.ZodError);
      }
});

test("recorded alerts that say what they are in fields of their own are read by one mapping", async () => {
  const { read } = await mappedSource(
    "own",
    `$exists(alert) ? [] : {
      "name": $exists(title) ? title : alert_name,
      "status": state in ["resolved", "ok", "normal"] ? "resolved" : "firing",
      "labels": commonLabels,
      "summary": $string(commonAnnotations.summary)
    }`,
  );
  const own = RECORDED.filter(({ value }) => isRecord(value) && typeof value["title"] === "string");
  for (const { name, value } of own) {
    const { alerts } = await read(value);
    expect(alerts.length, name).toBeLessThanOrEqual(1);
  }
  if (RECORDED.length > 0) expect(own.length).toBeGreaterThan(20);
});

test.each([
  ["for ever", "($f := function($x) { $f($x + 1) }; $f(0))"],
  ["without end", "$reduce([1..1e7], function($a, $b) { $a + $b })"],
  ["too deep", "($f := function($x) { $x + $f($x) }; $f(1))"],
  ["nothing", "none"],
  ["no alerts", '"words"'],
  ["an unknown status", '{ "name": "a", "status": "bad" }'],
])("a mapping that makes %s is stopped or refused, within its time", async (_, mapping) => {
  const { read } = await mappedSource("own", mapping);
  await expect(read({})).rejects.toThrow("The mapping of own: ");
});

test("many requests for one mapping at once are all read: none spends the others' time", async () => {
  const { read } = await mappedSource(
    "own",
    'alerts.{"name": title, "labels": {"k": $uppercase(title)}, "summary": $join([title, svc], " ")}',
  );
  const alerts = Array.from({ length: 100 }, (_, i) => ({ title: `t${i}`, svc: `s${i}` }));
  const read64 = Array.from({ length: 64 }, async () => read({ alerts }));
  for (const found of await Promise.all(read64)) expect(found.alerts).toHaveLength(100);
});

test("a mapping that makes a function, or meets what is nested without end, refuses the request", async () => {
  const fails = { code: "INPUT_INVALID" };
  const { read: makesFunction } = await mappedSource("own", '{"name": function($x){$x}}');
  await expect(makesFunction({})).rejects.toMatchObject(fails);
  const { read: makesDeep } = await mappedSource("own", '{"name": title}');
  const title: unknown = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
  await expect(makesDeep({ title })).rejects.toMatchObject(fails);
});

test("a label that no entry can have is left out: its request would never be taken", () => {
  const tags = [
    ["__proto__", "x"],
    ["release", "1.2"],
  ];
  const event = { event_id: "1", title: "Boom", tags };
  const { alerts } = sentry.read({ action: "triggered", data: { event } });
  expect(Object.keys(alerts[0]?.labels ?? {})).toEqual(["release"]);
});

test("a mapping's regular expressions match, split and replace, in time linear in foreign text; what they cannot be is said at the start", async () => {
  const { read } = await mappedSource(
    "own",
    '{"name": $contains(title, /^(\\w+\\s?)*$/) ? "words" : $replace(title, /A+(!)/i, "<$1>"), "labels": {"team": $split(tags, /[,;] ?/)[1], "all": $join($match(tags, /[a-z]+/).match, "+")}}',
  );
  // One that backtracks would not end in a person's lifetime.
  const hostile = await read({ title: `${"a".repeat(2_000)}!`, tags: "web, shop;eu" });
  expect(hostile.alerts).toMatchObject([
    { name: "<!>", labels: { team: "shop", all: "web+shop+eu" } },
  ]);
  await expect(mappedSource("own", '{"name": $replace(a, /(?=x)/, "")}')).rejects.toThrow(
    /alerts\.sources\.own\.mapping: /,
  );
});

test.each([1.5, 1_700_000_000_000.4, 1e300, Number.MAX_SAFE_INTEGER])(
  "a time of %s makes no alert that no entry could have",
  async (at) => {
    const { read } = await mappedSource("own", '{ "name": "a", "startsAt": at, "endsAt": at }');
    const { alerts } = await read({ at });
    expect(alerts).toHaveLength(1);
    const [{ startsAt, endsAt } = {}] = alerts;
    for (const each of [startsAt, endsAt].filter((one) => one !== undefined)) {
      expect(Number.isInteger(each)).toBe(true);
      expect(Number.isNaN(new Date(each).getTime())).toBe(false);
    }
  },
);
