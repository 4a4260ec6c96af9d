import * as z from "zod";
import { type AlertSource, alertOf, maybe, notificationOf } from "../alert.ts";

/** https://support.atlassian.com/opsgenie/docs/opsgenie-edge-connector-alert-action-data/ */

const request = z.object({
  action: z.string(),
  alert: z.object({
    alertId: z.string(),
    message: z.string(),
    alias: maybe,
    description: maybe,
    entity: maybe,
    priority: maybe,
    source: maybe,
    team: maybe,
    tags: z.array(z.string()).optional().catch(undefined),
    details: z.record(z.string(), z.unknown()).optional().catch(undefined),
    /** Ms since 1970. */
    createdAt: z.number().positive().optional().catch(undefined),
    updatedAt: z.number().positive().optional().catch(undefined),
  }),
});

const STATUS: Readonly<Record<string, "firing" | "acknowledged" | "resolved">> = {
  Create: "firing",
  UnAcknowledge: "firing",
  Escalate: "firing",
  Acknowledge: "acknowledged",
  Close: "resolved",
  Delete: "resolved",
};

export const opsgenie: AlertSource = {
  name: "opsgenie",
  read(body) {
    const { action, alert: said } = request.parse(body);
    const status = STATUS[action];
    if (status === undefined) return notificationOf([]);
    const { alertId, message, description, entity, priority, source, team, tags, details } = said;
    const alert = alertOf({
      fingerprint: alertId,
      status,
      name: message,
      labels: {
        ...details,
        ...labelsOfTags(tags),
        entity,
        severity: priority,
        source,
        team,
      },
      description,
      startsAt: said.createdAt,
      endsAt: status === "resolved" ? said.updatedAt : undefined,
    });
    return notificationOf([alert]);
  },
};

/** `service:web` is a label; what has no value is none. */
export function labelsOfTags(tags: readonly string[] = []): Record<string, string> {
  const pairs = tags.flatMap((tag) => {
    const [, name, value] = /^([^:]+):(.+)$/s.exec(tag.trim()) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(pairs);
}
