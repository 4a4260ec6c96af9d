import * as z from "zod";
import { type AlertSource, alertOf, maybe, notificationOf } from "../alert.ts";
import { labelsOfTags } from "./opsgenie.ts";

/**
 * https://docs.datadoghq.com/integrations/webhooks/: its variables in a payload of the owner's, which docs/alerts.md gives. With
 * Datadog's default payload, which has no transition, the title says what happened.
 */

const text = z
  .union([z.string(), z.number().transform(String)])
  .optional()
  .catch(undefined);

const request = z.object({
  id: text,
  title: z.string().min(1),
  body: maybe,
  event_type: maybe,
  alert_id: text,
  alert_transition: maybe,
  alert_scope: maybe,
  hostname: maybe,
  priority: maybe,
  tags: maybe,
  link: maybe,
  /** Ms since 1970. */
  date: text,
});

/** `[Recovered on {host:web-1}] CPU is high`, with its priority before it: `[P2] [Triggered] …`. */
const TITLE = /^(?:\[P\d\] )?\[(?<transition>[A-Za-z-]+(?: [A-Za-z]+)?)[^\]]*\] *(?<name>.*)$/s;

export const datadog: AlertSource = {
  name: "datadog",
  read(body) {
    const said = request.parse(body);
    const { transition, name = said.title } = TITLE.exec(said.title)?.groups ?? {};
    const happened = said.alert_transition ?? transition ?? said.event_type ?? "";
    const isOver = /recover|resolv|^ok$|^success/i.test(happened);
    const { alert_id, alert_scope, hostname } = said;
    const scope = alert_scope ?? hostname;
    const at = Number(said.date);
    const alert = alertOf({
      fingerprint: alert_id === undefined ? undefined : `${alert_id} ${scope ?? ""}`.trim(),
      status: isOver ? "resolved" : "firing",
      name,
      labels: {
        ...labelsOfTags(said.tags?.split(",")),
        ...labelsOfTags(alert_scope?.split(",")),
        ...(hostname !== undefined && { host: hostname }),
        severity: said.priority,
      },
      description: said.body,
      ...(at > 0 && (isOver ? { endsAt: at } : { startsAt: at })),
      links: { Datadog: said.link },
    });
    return notificationOf([alert], { id: said.id });
  },
};
