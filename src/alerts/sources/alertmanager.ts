import * as z from "zod";
import { type AlertSource, alertOf, isoTime, maybe, notificationOf } from "../alert.ts";

/** https://prometheus.io/docs/alerting/latest/configuration/#webhook_config, version 4; Grafana's is the same with more. */

const texts = z.record(z.string(), z.string());

const alert = z.object({
  status: z.enum(["firing", "resolved"]),
  labels: texts,
  annotations: texts.default({}),
  startsAt: isoTime,
  endsAt: isoTime,
  generatorURL: maybe,
  fingerprint: maybe,
  silenceURL: maybe,
  dashboardURL: maybe,
  panelURL: maybe,
});

const request = z.object({
  alerts: z.array(alert).min(1),
  truncatedAlerts: z.number().int().nonnegative().optional().catch(undefined),
});

/** `sources`: what the links of such a system are called. */
function createSource(name: string, query: string): AlertSource {
  return {
    name,
    read(body) {
      const { alerts, truncatedAlerts } = request.parse(body);
      return notificationOf(
        alerts.map((each) => read(each, query)),
        { left: truncatedAlerts },
      );
    },
  };
}

function read(each: z.infer<typeof alert>, query: string) {
  const { status, labels, annotations, startsAt, endsAt, fingerprint } = each;
  const { summary, message, description } = annotations;
  return alertOf({
    name: labels["alertname"] ?? "an alert without a name",
    status,
    labels,
    summary: summary ?? message,
    description,
    startsAt,
    endsAt: status === "resolved" ? endsAt : undefined,
    // "unknown" is written by whoever sends what Alertmanager itself did not.
    fingerprint: /^[0-9a-f]{16}$/.test(fingerprint ?? "") ? fingerprint : undefined,
    links: {
      [query]: each.generatorURL,
      Dashboard: each.dashboardURL ?? annotations["dashboard"],
      Panel: each.panelURL,
      Silence: each.silenceURL,
      Runbook: annotations["runbook_url"] ?? annotations["runbook"],
    },
  });
}

export const alertmanager = createSource("alertmanager", "Query");
export const grafana = createSource("grafana", "Rule");
