import * as z from "zod";
import { type AlertSource, alertOf, isoTime, maybe, notificationOf } from "../alert.ts";

/** https://docs.sentry.io/organization/integrations/integration-platform/webhooks/: issues, issue alerts, metric alerts. */

const id = z.union([z.string(), z.number().transform(String)]);

const issue = z.object({
  id,
  title: z.string(),
  shortId: maybe,
  culprit: maybe,
  level: maybe,
  firstSeen: isoTime,
  lastSeen: isoTime,
  web_url: maybe,
  permalink: maybe,
  project: z.object({ slug: maybe }).optional().catch(undefined),
});

const triggered = z.object({
  event: z.object({
    issue_id: id.optional().catch(undefined),
    event_id: z.string(),
    title: z.string(),
    culprit: maybe,
    level: maybe,
    environment: maybe,
    datetime: isoTime,
    web_url: maybe,
    tags: z
      .array(z.tuple([z.string(), z.unknown()]))
      .optional()
      .catch(undefined),
  }),
  triggered_rule: maybe,
});

const metricAlert = z.object({
  metric_alert: z.object({
    id,
    alert_rule: z.object({ name: maybe, environment: maybe }).optional().catch(undefined),
    date_started: isoTime,
    date_closed: isoTime,
    projects: z.array(z.string()).optional().catch(undefined),
  }),
  description_title: z.string(),
  description_text: maybe,
  web_url: maybe,
});

const request = z.object({ action: z.string(), data: z.looseObject({}) });

const OVER = new Set(["resolved", "archived", "ignored"]);

export const sentry: AlertSource = {
  name: "sentry",
  read(body) {
    const { action, data } = request.parse(body);
    const status = OVER.has(action) ? "resolved" : "firing";
    if ("metric_alert" in data) return notificationOf([ofMetric(data, status, action)]);
    if ("event" in data) return notificationOf([ofEvent(data)]);
    if ("issue" in data) return notificationOf([ofIssue(issue.parse(data["issue"]), status)]);
    // What is installed, commented on or built is no alert.
    return notificationOf([]);
  },
};

type Status = "firing" | "resolved";

/** An issue is the same alert whether it or one of its events is told of. */
function ofIssue(said: z.infer<typeof issue>, status: Status) {
  const { title, culprit, level, project, firstSeen, lastSeen, web_url, permalink } = said;
  return alertOf({
    fingerprint: `issue ${said.id}`,
    status,
    name: title,
    labels: { project: project?.slug, severity: level, culprit },
    startsAt: firstSeen,
    endsAt: status === "resolved" ? lastSeen : undefined,
    links: { Sentry: web_url ?? permalink },
  });
}

function ofEvent(data: unknown) {
  const { event: said, triggered_rule } = triggered.parse(data);
  const { title, culprit, level, environment, datetime, web_url, tags = [] } = said;
  return alertOf({
    fingerprint: `issue ${said.issue_id ?? said.event_id}`,
    status: "firing",
    name: title,
    labels: {
      ...Object.fromEntries(tags),
      environment,
      severity: level,
      culprit,
      rule: triggered_rule,
    },
    startsAt: datetime,
    links: { Sentry: web_url },
  });
}

/** Its action is the severity: `critical`, `warning` or `resolved`. */
function ofMetric(data: unknown, status: Status, action: string) {
  const { metric_alert, description_title, description_text, web_url } = metricAlert.parse(data);
  const { alert_rule, date_started, date_closed, projects } = metric_alert;
  return alertOf({
    fingerprint: `metric ${metric_alert.id}`,
    status,
    name: alert_rule?.name ?? description_title,
    labels: {
      project: projects?.join(","),
      environment: alert_rule?.environment,
      severity: status === "firing" ? action : undefined,
    },
    summary: description_title,
    description: description_text,
    startsAt: date_started,
    endsAt: date_closed,
    links: { Sentry: web_url },
  });
}
