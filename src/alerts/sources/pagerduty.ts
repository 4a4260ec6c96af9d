import * as z from "zod";
import { type AlertSource, alertOf, isoTime, maybe, notificationOf } from "../alert.ts";

/** https://developer.pagerduty.com/docs/webhooks-overview, version 3. */

const named = z.object({ summary: maybe }).nullish().catch(undefined);

const incident = z.object({
  id: z.string(),
  title: z.string(),
  status: z.enum(["triggered", "acknowledged", "resolved"]),
  html_url: maybe,
  created_at: isoTime,
  service: named,
  priority: named,
  urgency: maybe,
});

const request = z.object({
  event: z.object({
    id: z.string(),
    event_type: z.string(),
    occurred_at: isoTime,
    data: z.looseObject({ type: z.string() }),
  }),
});

const STATUS = { triggered: "firing", acknowledged: "acknowledged", resolved: "resolved" } as const;

export const pagerduty: AlertSource = {
  name: "pagerduty",
  read(body) {
    const { event } = request.parse(body);
    const { id, occurred_at, data } = event;
    // Notes, responders and test pings are of no alert's state.
    if (data.type !== "incident") return notificationOf([], { id });
    const { title, status, html_url, created_at, service, priority, urgency, ...of } =
      incident.parse(data);
    const alert = alertOf({
      fingerprint: of.id,
      status: STATUS[status],
      name: title,
      labels: {
        service: service?.summary,
        severity: priority?.summary ?? urgency,
      },
      startsAt: created_at,
      endsAt: status === "resolved" ? occurred_at : undefined,
      links: { PagerDuty: html_url },
    });
    return notificationOf([alert], { id });
  },
};
