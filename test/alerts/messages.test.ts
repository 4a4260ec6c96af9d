import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { botMessageOf as inDiscord } from "../../src/adapters/discord/bot-message.ts";
import { botMessageOf as inSlack } from "../../src/adapters/slack/bot-message.ts";
import { shown } from "../../src/adapters/slack/read-shown.ts";
import type { Alert } from "../../src/alerts/alert.ts";
import { readBotMessage } from "../../src/alerts/messages/read.ts";
import { isRecord } from "../../src/core/json.ts";
import { cpuMs } from "../cpu-time.ts";
import { publicRecords } from "../public-data.ts";
import * as posts from "./bot-posts.ts";

const BY = "slack:T1:B0PAGER";

function slack(post: posts.SlackPost, by = BY) {
  return readBotMessage(inSlack(shown.parse({ ts: "1.0", bot_id: "B0PAGER", ...post })), by);
}

function discord(post: posts.DiscordPost, by = "discord:77") {
  const message = inDiscord({ content: "", ...post }, "pager");
  return message && readBotMessage(message, by);
}

type State = Alert["status"];
type Read = ReturnType<typeof slack>;

/** Each system's message for each state, and what is read of all of them. */
const FORMS: readonly {
  form: string;
  read(state: State): Read;
  source: string;
  states?: readonly State[];
  name: string;
  labels: Record<string, string>;
}[] = [
  {
    form: "Alertmanager in Slack",
    read: (state) => slack(posts.alertmanagerInSlack(state)),
    source: "alertmanager",
    name: "HighErrorRate",
    labels: { severity: "critical", instance: "web-1:9090" },
  },
  {
    form: "Alertmanager in Slack with a text of the owner's",
    read: (state) => slack(posts.ownTemplateInSlack(state)),
    source: "alertmanager",
    name: "HighErrorRate",
    labels: { service: "checkout", namespace: "shop", severity: "critical" },
  },
  {
    form: "Alertmanager in Discord",
    read: (state) => discord(posts.alertmanagerInDiscord(state)),
    source: "alertmanager",
    name: "HighErrorRate",
    labels: { service: "checkout", instance: "web-1:9090", severity: "critical" },
  },
  {
    form: "Alertmanager in Discord with fields",
    read: (state) => discord(posts.fieldsInDiscord(state)),
    source: "alertmanager",
    name: "HighErrorRate",
    labels: { service: "checkout", instance: "web-1:9090" },
  },
  {
    form: "Grafana in Slack",
    read: (state) => slack(posts.grafanaInSlack(state)),
    source: "grafana",
    name: "DiskFull",
    labels: { host: "db-1", severity: "warning" },
  },
  {
    form: "Grafana in Discord",
    read: (state) => discord(posts.grafanaInDiscord(state)),
    source: "grafana",
    name: "DiskFull",
    labels: { host: "db-1", severity: "warning" },
  },
  {
    form: "PagerDuty in Slack",
    read: (state) => slack(posts.pagerdutyInSlack(state)),
    source: "pagerduty",
    states: ["firing", "acknowledged", "resolved"],
    name: "Queue of payments grows",
    labels: { service: "payments", severity: "high" },
  },
  {
    form: "Datadog in Slack",
    read: (state) => slack(posts.datadogInSlack(state)),
    source: "datadog",
    name: "CPU is high",
    labels: { host: "web-1" },
  },
  {
    form: "Sentry in Slack",
    read: (state) => slack(posts.sentryInSlack(state)),
    source: "sentry",
    name: "TypeError: total of nothing",
    labels: { project: "shop", short_id: "SHOP-1K" },
  },
  {
    form: "Sentry in Discord",
    read: (state) => discord(posts.sentryInDiscord(state)),
    source: "sentry",
    name: "TypeError: total of nothing",
    labels: { env: "prod", short_id: "SHOP-1K" },
  },
  {
    form: "a metric alert of Sentry's in Slack",
    read: (state) => slack(posts.sentryMetricInSlack(state)),
    source: "sentry",
    name: "Latency of checkout",
    labels: {},
  },
  {
    form: "Opsgenie in Slack",
    read: (state) => slack(posts.opsgenieInSlack(state)),
    source: "opsgenie",
    states: ["firing", "acknowledged", "resolved"],
    name: "[StatusCake] https://shop.example.com (Shop): Down",
    labels: { severity: "P2", service: "shop" },
  },
  {
    form: "a checker of sites in Slack",
    read: (state) => slack(posts.checkerInSlack(state)),
    source: "slack",
    name: "Monitor is DOWN: shop",
    labels: {},
  },
  {
    form: "a checker of sites in Discord",
    read: (state) => discord(posts.checkerInDiscord(state)),
    source: "discord",
    name: "Your service shop went down.",
    labels: {},
  },
];

describe.each(FORMS)("a message of $form", ({ read, source, states, name, labels }) => {
  test("is read: which system, what it is called, what it is about", () => {
    const found = read("firing");
    expect(found).toMatchObject({ source, left: 0 });
    expect(found?.alerts[0]).toMatchObject({ name, status: "firing", labels });
  });

  test("is the same alert in each of its states", () => {
    const all = (states ?? ["firing", "resolved"]).map((state) => [state, read(state)] as const);
    for (const [state, found] of all)
      expect(found?.alerts.map(({ status }) => status)).toEqual(found?.alerts.map(() => state));
    const fingerprints = all.map(([, found]) => found?.alerts.map((alert) => alert.fingerprint));
    expect(new Set(fingerprints.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(fingerprints[0]?.length).toBeGreaterThan(0);
  });
});

test("each alert that a message lists has its own labels, and is the one that Alertmanager's request tells of", () => {
  const read = discord(posts.alertmanagerInDiscord("firing"));
  expect(read?.alerts.map(({ labels }) => labels["instance"])).toEqual([
    "web-1:9090",
    "web-2:9090",
  ]);
  expect(read?.alerts[0]).toMatchObject({
    summary: "5xx on web-1:9090",
    description: "12 % of requests fail",
    links: [{ label: "Query", url: "https://prometheus.example.com/graph?g0.expr=up" }],
  });
  // What Alertmanager 0.25 itself gives an alert with this label alone.
  const text = "Alerts Firing:\nLabels:\n - alertname = a\nAnnotations:\nSource: https://p.test/";
  const single = discord({ embeds: [{ title: "[FIRING:1] a ", description: text }] });
  expect(single?.alerts[0]?.fingerprint).toBe("d258efc389808447");
});

test("what PagerDuty, Opsgenie and Sentry say is the alert that their requests tell of", () => {
  const ids = [posts.pagerdutyInSlack, posts.opsgenieInSlack, posts.sentryInSlack].map(
    (post) => slack(post("firing"))?.alerts[0]?.fingerprint,
  );
  expect(ids).toEqual([
    "Q1ABCDEFGHIJKL",
    "3c603aeb-a223-4b41-a4a4-94d7467dba7d-1656692903240",
    "issue 4711",
  ]);
});

test("what two bots, two hosts or two monitors head alike is not one alert", () => {
  const prints = [
    slack(posts.checkerInSlack("firing")),
    slack(posts.checkerInSlack("firing"), "slack:T1:B0OTHER"),
    slack(posts.checkerInSlack("firing", "blog")),
    slack({
      attachments: [
        {
          color: "danger",
          title: "High load",
          fields: [
            { title: "Status", value: "firing" },
            { title: "Host", value: "web-1" },
          ],
        },
      ],
    }),
    slack({
      attachments: [
        {
          color: "danger",
          title: "High load",
          fields: [
            { title: "Status", value: "firing" },
            { title: "Host", value: "web-2" },
          ],
        },
      ],
    }),
  ].map((read) => read?.alerts[0]?.fingerprint);
  expect(new Set(prints).size).toBe(5);
  expect(prints).not.toContain(undefined);
});

test.each([
  ["[FIRING:3] Lag kafka (orders critical)", "firing", "Lag"],
  ["[RESOLVED] Lag kafka (orders critical)", "resolved", "Lag"],
  ["[FIRING:1]  (NodeDown node-3:9100 critical)", "firing", "NodeDown"],
  ["[FIRING:2, RESOLVED:1] Lag kafka (orders)", "firing", "Lag"],
] as const)("Alertmanager's title %s", (title, status, name) => {
  expect(slack({ attachments: [{ title }] })?.alerts[0]).toMatchObject({ status, name });
});

test.each([
  ["[P2] [Triggered on {host:web-1}] CPU is high", "firing", "10 host:web-1", "CPU is high"],
  ["Re-Triggered: CPU is high on host:web-1", "firing", "10 host:web-1", "CPU is high"],
  ["No data: CPU is high on host:web-1", "firing", "10 host:web-1", "CPU is high"],
  ["[Recovered] CPU is high on host:web-1", "resolved", "10 host:web-1", "CPU is high"],
  ["Warn: Queue grows", "firing", "10", "Queue grows"],
] as const)("Datadog's title %s", (title, status, fingerprint, name) => {
  const post = { attachments: [{ title, title_link: "https://app.datadoghq.com/monitors/10" }] };
  expect(slack(post)?.alerts[0]).toMatchObject({ status, fingerprint, name });
});

test.each([
  [{ text: "🔴 [DOWN] shop" }, "firing", "shop"],
  [{ text: "🟢 [UP] shop" }, "resolved", "shop"],
  [{ text: ":rotating_light: *Problem: disk full on db-1*" }, "firing", "disk full on db-1"],
  [{ text: ":white_check_mark: *Resolved: disk full on db-1*" }, "resolved", "disk full on db-1"],
  [
    { text: "PROBLEM: load is high, host=web-1 severity=major" },
    "firing",
    "load is high, host=web-1 severity=major",
  ],
  [
    {
      blocks: [
        { type: "header", text: { type: "plain_text", text: "🚨 Alert: latency" } },
        { type: "section", fields: [{ type: "mrkdwn", text: "*Service:*\ncheckout" }] },
      ],
    },
    "firing",
    "latency",
  ],
  [
    {
      attachments: [
        {
          color: "#e01e5a",
          title: "CPU of db-1",
          fields: [
            { title: "State", value: "ALARM" },
            { title: "Instance", value: "db-1" },
          ],
        },
      ],
    },
    "firing",
    "CPU of db-1",
  ],
] as const)("any other system's %j", (post, status, name) => {
  const read = slack(JSON.parse(JSON.stringify(post)));
  expect(read).toMatchObject({ source: "slack", alerts: [{ status, name }] });
});

test.each(posts.CHATTER.map((post) => [JSON.stringify(post), post] as const))(
  "%s is no alert",
  (_name, post) => {
    expect(slack(post)).toBeUndefined();
  },
);

test("what others recorded is no alert", () => {
  const records = ["payloads/slack.ndjson.gz", "payloads/discord.ndjson.gz"].flatMap(publicRecords);
  const read = records
    .flatMap((each) => messagesIn(each, 0))
    .flatMap((message) => {
      const said = shown.safeParse({ ts: "1.0", ...message }).data;
      const there = inDiscord(message, "x");
      return [
        said && readBotMessage(inSlack(said), BY),
        there && readBotMessage(there, "discord:77"),
      ];
    });
  expect(read.filter((each) => each !== undefined)).toEqual([]);
});

/** Whatever in a payload could be a message. */
function messagesIn(value: unknown, depth: number): Record<string, unknown>[] {
  if (depth > 8 || !(isRecord(value) || Array.isArray(value))) return [];
  const inner = Object.values(value).flatMap((each) => messagesIn(each, depth + 1));
  return isRecord(value) ? [value, ...inner] : inner;
}

const words = fc.oneof(
  fc.string({ maxLength: 200, unit: "binary" }),
  fc.constantFrom(
    "[FIRING:1] ",
    "[RESOLVED]",
    "Labels:\n - a = b\n",
    "Triggered: x on a:b:c,d:e",
    "https://acme.pagerduty.com/incidents/Q1ABCDEFGHIJKL",
    "https://acme.sentry.io/issues/1/",
    "https://app.datadoghq.com/monitors/1",
    ":fire: Problem: ",
    "__proto__ = constructor",
    "(".repeat(50),
    "a:".repeat(80),
  ),
);
const field = fc.record({ title: words, value: words });
const attachment = fc.record(
  {
    title: words,
    title_link: words,
    text: fc.array(words, { maxLength: 8 }).map((all) => all.join("\n")),
    color: fc.constantFrom("danger", "good", "#fff", "zz"),
    fields: fc.array(fc.oneof(field, fc.anything()), { maxLength: 70 }),
    footer: words,
    blocks: fc.anything(),
    actions: fc.anything(),
  },
  { requiredKeys: [] },
);

test("of anything at all comes nothing, or an alert within its bounds", () => {
  fc.assert(
    fc.property(
      words,
      fc.array(fc.oneof(attachment, fc.anything()), { maxLength: 5 }),
      fc.anything(),
      (text, attachments, blocks) => {
        const said = shown.parse({ ts: "1.0", text, attachments, blocks });
        const embeds = attachments.map((each) =>
          isRecord(each)
            ? { ...each, description: each["text"], url: each["title_link"], color: 0xff0000 }
            : each,
        );
        for (const read of [
          readBotMessage(inSlack(said), BY),
          discord({ content: text, embeds: embeds as Record<string, unknown>[] }),
        ])
          for (const alert of read?.alerts ?? []) {
            expect(alert.fingerprint).not.toBe("");
            expect(alert.fingerprint.length).toBeLessThanOrEqual(300);
            expect(alert.name).not.toBe("");
            expect(alert.name.length).toBeLessThanOrEqual(300);
            expect(Object.keys(alert.labels).length).toBeLessThanOrEqual(64);
            for (const value of Object.values(alert.labels))
              expect(value.length).toBeLessThanOrEqual(300);
            for (const { url } of alert.links ?? []) expect(url).toMatch(/^https?:/);
          }
      },
    ),
    { numRuns: 500 },
  );
});

test("a long message does not hold anything up", async () => {
  const bad = [
    "(",
    ":a",
    " on a:b",
    "[x",
    "* ",
    "`",
    "_-",
    "Project: ",
    "<a|",
    "#1 ",
    " - a = b\n",
    '"',
    "\u200d",
  ];
  for (const each of bad) {
    const text = each.repeat(40_000 / each.length);
    const spent = await cpuMs(() => {
      slack({ text, attachments: [{ title: text, text, footer: text, fallback: text }] });
      discord({ content: text, embeds: [{ title: text, description: text, footer: { text } }] });
    });
    expect(spent, each).toBeLessThan(4_000);
  }
});
