/**
 * Messages as monitoring systems' bots post them. The forms are those of the systems' own templates and message builders; what they
 * say is ours.
 */

export interface SlackPost {
  text?: string;
  attachments?: Record<string, unknown>[];
  blocks?: Record<string, unknown>[];
}

export interface DiscordPost {
  content?: string;
  embeds?: Record<string, unknown>[];
  components?: Record<string, unknown>[];
}

type State = "firing" | "acknowledged" | "resolved";

const [RED, GREEN] = ["a30200", "2eb886"];

/** github.com/prometheus/alertmanager, template/default.tmpl `slack.default.*`. As Slack sends its colors. */
export function alertmanagerInSlack(state: State, firing = 1): SlackPost {
  const mark = state === "firing" ? `FIRING:${firing}` : "RESOLVED";
  const title = `[${mark}] HighErrorRate checkout (prod web-1:9090 critical)`;
  const link = "https://alerts.example.com/#/alerts?receiver=slack";
  return {
    text: "",
    attachments: [
      {
        id: 1,
        color: state === "firing" ? RED : GREEN,
        fallback: `${title} | ${link}`,
        title,
        title_link: link,
        mrkdwn_in: ["fallback", "pretext", "text"],
      },
    ],
  };
}

/** What many write into `slack_configs.text`, as in the manual's examples. */
export function ownTemplateInSlack(state: State): SlackPost {
  const mark = state === "firing" ? "FIRING:1" : "RESOLVED";
  const text = [
    "*Alert:* Errors of checkout - `critical`",
    "*Description:* 12 % of requests fail",
    "*Details:*",
    " • *alertname:* `HighErrorRate`",
    " • *namespace:* `shop`",
    " • *service:* `checkout`",
    " • *severity:* `critical`",
  ].join("\n");
  return {
    attachments: [
      {
        color: state === "firing" ? RED : GREEN,
        title: `[${mark}] HighErrorRate for checkout`,
        title_link: "https://alerts.example.com/#/alerts?receiver=slack",
        text,
      },
    ],
  };
}

interface Labels {
  [name: string]: string;
}

/** `__text_alert_list` of the same file. */
function list(alerts: readonly { labels: Labels; annotations: Labels }[]): string {
  const pairs = (of: Labels) => Object.entries(of).map(([name, value]) => ` - ${name} = ${value}`);
  return alerts
    .flatMap(({ labels, annotations }) => [
      "Labels:",
      ...pairs(labels),
      "Annotations:",
      ...pairs(annotations),
      "Source: https://prometheus.example.com/graph?g0.expr=up",
    ])
    .join("\n");
}

const ALERTS = ["web-1:9090", "web-2:9090"].map((instance) => ({
  labels: { alertname: "HighErrorRate", instance, service: "checkout", severity: "critical" },
  annotations: { summary: `5xx on ${instance}`, description: "12 % of requests fail" },
}));

/** The same file's `discord.default.*`; notify/discord/discord.go for the colors. */
export function alertmanagerInDiscord(state: State): DiscordPost {
  const isFiring = state === "firing";
  const mark = isFiring ? "FIRING:2" : "RESOLVED";
  return {
    content: "",
    embeds: [
      {
        type: "rich",
        title: `[${mark}] HighErrorRate checkout (critical)`,
        description: `${isFiring ? "Alerts Firing:" : "Alerts Resolved:"}\n${list(ALERTS)}`,
        color: isFiring ? 0x992d22 : 0x2ecc71,
      },
    ],
  };
}

/** notify/discord/discord.go with a field for each label: an embed is one alert, and its footer the fingerprint. */
export function fieldsInDiscord(state: State): DiscordPost {
  const labels = ALERTS[0]?.labels ?? {};
  return {
    embeds: [
      {
        type: "rich",
        title: "[FIRING:1] HighErrorRate checkout (critical)",
        color: state === "firing" ? 0x992d22 : 0x2ecc71,
        fields: Object.entries(labels).map(([name, value]) => ({ name, value, inline: true })),
        footer: { text: "3f7b8e0c5d1a2964" },
      },
    ],
  };
}

/** github.com/grafana/alerting, templates/default_template.go `default.message`. */
function grafanaText(state: State): string {
  return [
    state === "firing" ? "**Firing**" : "**Resolved**",
    "",
    "Value: A=93.4, C=1",
    "Labels:",
    " - alertname = DiskFull",
    " - grafana_folder = Machines",
    " - host = db-1",
    " - severity = warning",
    "Annotations:",
    " - summary = /var is full",
    "Source: https://grafana.example.com/alerting/grafana/abc123/view?orgId=1",
    "Silence: https://grafana.example.com/alerting/silence/new?alertmanager=grafana",
  ].join("\n");
}

function grafanaTitle(state: State): string {
  const mark = state === "firing" ? "FIRING:1" : "RESOLVED";
  return `[${mark}] DiskFull Machines (db-1 warning)`;
}

/** receivers/slack of the same. */
export function grafanaInSlack(state: State): SlackPost {
  return {
    attachments: [
      {
        color: state === "firing" ? "D63232" : "36a64f",
        fallback: grafanaTitle(state),
        footer: "Grafana v11.2.0",
        footer_icon: "https://grafana.com/static/assets/img/fav32.png",
        text: grafanaText(state).replaceAll("**", "*"),
        title: grafanaTitle(state),
        title_link: "https://grafana.example.com/alerting/list",
        ts: 1_790_000_000,
      },
    ],
  };
}

/** receivers/discord of the same: the text is the message's own. */
export function grafanaInDiscord(state: State): DiscordPost {
  return {
    content: grafanaText(state),
    embeds: [
      {
        type: "rich",
        title: grafanaTitle(state),
        url: "https://grafana.example.com/alerting/list",
        color: state === "firing" ? 0xd63232 : 0x36a64f,
        footer: { text: "Grafana v11.2.0" },
      },
    ],
  };
}

const button = (text: string) => ({
  type: "button",
  text: { type: "plain_text", text },
  value: text,
});
const mrkdwn = (text: string) => ({ type: "mrkdwn", text });
const section = (text: string) => ({ type: "section", text: mrkdwn(text) });

/** support.pagerduty.com/main/docs/slack-integration-guide: title, fields, buttons for what can still be done. */
export function pagerdutyInSlack(state: State): SlackPost {
  const url = "https://acme.pagerduty.com/incidents/Q1ABCDEFGHIJKL";
  const word = { firing: "Triggered", acknowledged: "Acknowledged", resolved: "Resolved" }[state];
  const buttons = { firing: ["Acknowledge", "Resolve"], acknowledged: ["Resolve"], resolved: [] };
  const color = { firing: "c93636", acknowledged: "f2a53a", resolved: "4fa74f" }[state];
  const labels = buttons[state];
  return {
    text: `${word} #42: <${url}|Queue of payments grows>`,
    attachments: [
      {
        color,
        blocks: [
          section(`*<${url}|[#42] Queue of payments grows>*`),
          {
            type: "section",
            fields: [
              mrkdwn("*Service:*\n<https://acme.pagerduty.com/services/PABC123|payments>"),
              mrkdwn("*Urgency:*\nhigh"),
            ],
          },
          ...(labels.length > 0 ? [{ type: "actions", elements: labels.map(button) }] : []),
        ],
      },
    ],
  };
}

/** docs.datadoghq.com/monitors/notify: the title says what happened and leads to the monitor. */
export function datadogInSlack(state: State): SlackPost {
  const word = state === "firing" ? "Triggered" : "Recovered";
  const url = "https://app.datadoghq.eu/monitors/10766?group=host%3Aweb-1&event_id=86";
  const title = `${word}: CPU is high on host:web-1`;
  return {
    attachments: [
      {
        color: state === "firing" ? RED : GREEN,
        fallback: title,
        title,
        title_link: url,
        text: "@slack-ops\n\nThe CPU of web-1 was above 90 % for 10 minutes.\n\n*Metric value:* 97.1",
        fields: [{ title: "Tags", value: "env:prod, host:web-1, service:checkout", short: false }],
      },
    ],
  };
}

/** github.com/getsentry/sentry, src/sentry/integrations/slack/message_builder/issues.py. */
export function sentryInSlack(state: State): SlackPost {
  const isOver = state === "resolved";
  const url = "https://acme.sentry.io/issues/4711/?project=1&amp;referrer=slack";
  return {
    text: `[shop] TypeError: total of nothing`,
    attachments: [
      {
        color: "e03e2f",
        blocks: [
          section(
            `${isOver ? ":white_circle:" : ":red_circle:"} <${url}|*TypeError: total of nothing*>`,
          ),
          { type: "context", elements: [mrkdwn("checkout/total.ts in sum")] },
          section("```Cannot read properties of undefined```"),
          ...(isOver ? [section("*Issue resolved by <@U07>*")] : []),
          section("environment: `prod`  level: `error`"),
          { type: "context", elements: [mrkdwn("State: *New*   First Seen: *2 minutes ago*")] },
          {
            type: "actions",
            elements: (isOver ? ["Unresolve"] : ["Resolve", "Archive"]).map(button),
          },
          {
            type: "context",
            elements: [
              mrkdwn(
                "Project: <https://acme.sentry.io/projects/shop/|shop>    Alert: <https://acme.sentry.io/alerts/1|errors>    Short ID: SHOP-1K",
              ),
            ],
          },
        ],
      },
    ],
  };
}

/** The same project's src/sentry/integrations/discord/message_builder/issues.py. */
export function sentryInDiscord(state: State): DiscordPost {
  const labels = state === "resolved" ? ["Unresolve", "Archive"] : ["Resolve", "Archive"];
  return {
    embeds: [
      {
        type: "rich",
        title: "TypeError: total of nothing",
        description: "Cannot read properties of undefined",
        url: "https://acme.sentry.io/issues/4711/?referrer=discord",
        color: 0xe03e2f,
        fields: [{ name: "environment", value: "prod", inline: true }],
        footer: { text: "SHOP-1K via errors" },
      },
    ],
    components: [
      {
        type: 1,
        components: labels.map((label, i) => ({
          type: 2,
          style: 2,
          label,
          custom_id: `${i}:4711`,
        })),
      },
    ],
  };
}

/** .../slack/message_builder/incidents.py: the title stands in the message's text. */
export function sentryMetricInSlack(state: State): SlackPost {
  const word = state === "resolved" ? "Resolved" : "Critical";
  return {
    text: `<https://acme.sentry.io/alerts/rules/details/9/?alert=77&amp;referrer=metric_alert_slack|*${word}: Latency of checkout*>`,
    attachments: [
      {
        color: state === "resolved" ? "4dc771" : "fa4747",
        blocks: [section("901ms p95 in the last 5 minutes")],
      },
    ],
  };
}

/** As recorded by those who take it: title, link, message in quotes (`New alert: #46353`, opsg.in). */
export function opsgenieInSlack(state: State): SlackPost {
  const url = "https://opsg.in/a/i/acme/3c603aeb-a223-4b41-a4a4-94d7467dba7d-1656692903240";
  const title = {
    firing: "New alert: #46353",
    acknowledged: "ana acknowledged alert: #46353",
    resolved: "ana closed alert: #46353",
  }[state];
  return {
    attachments: [
      {
        color: "f4511e",
        title,
        title_link: url,
        text: '"[StatusCake] https://shop.example.com (Shop): Down,"',
        fallback: `${title} <${url}|46353>`,
        fields: [
          { title: "Priority", value: "P2", short: true },
          { title: "Tags", value: "service:shop, web", short: true },
        ],
      },
    ],
  };
}

/** As small checkers of sites write in Slack. */
export function checkerInSlack(state: State, site = "shop"): SlackPost {
  return {
    attachments: [
      {
        color: state === "firing" ? "#ff0000" : "good",
        title: state === "firing" ? `Monitor is DOWN: ${site}` : `Monitor is UP: ${site}`,
        text: state === "firing" ? "Reason: HTTP 503" : "It was down for 4 minutes",
      },
    ],
  };
}

/** The same in Discord, by signs. */
export function checkerInDiscord(state: State, site = "shop"): DiscordPost {
  const isFiring = state === "firing";
  return {
    embeds: [
      {
        type: "rich",
        title: isFiring
          ? `❌ Your service ${site} went down. ❌`
          : `✅ Your service ${site} is up! ✅`,
        color: isFiring ? 0xff0000 : 0x00ff00,
        fields: [{ name: "Service Name", value: site }],
      },
    ],
  };
}

/** What is no alert, whoever says it. */
export const CHATTER: readonly SlackPost[] = [
  { text: "Deploy of checkout v42 finished" },
  { text: "and again" },
  { text: "CheckoutErrors is firing" },
  { text: ":white_check_mark: Build #12 passed" },
  { attachments: [{ color: "danger", title: "Build failed: main", text: "3 tests failed" }] },
  {
    attachments: [
      {
        color: "good",
        title: "Deployed checkout to prod",
        fields: [{ title: "Service", value: "checkout" }],
      },
    ],
  },
  { attachments: [{ color: "danger", title: "Release 2.1 is down the road", text: "soon" }] },
  { text: "Reminder: stand-up in 5 minutes :fire:" },
  { text: "Problem: I can't log in" },
  { text: "Good morning! The rota: ana until Friday" },
  { text: "See https://acme.pagerduty.com/incidents/Q1ABCDEFGHIJKL for what happened" },
  {
    blocks: [
      { type: "header", text: { type: "plain_text", text: "Weekly report" } },
      section("2 alerts fired, 2 were resolved"),
    ],
  },
];
