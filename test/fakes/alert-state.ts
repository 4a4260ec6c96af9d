import type { AlertFields, Draft } from "../../src/core/entry.ts";

const OF = "alerts:test:C1";
const STARTED = Date.parse("2026-11-24T10:02:00Z");

/** One alert of a group. */
export function alertFields(more: Partial<AlertFields> = {}): AlertFields {
  return {
    fingerprint: "f1",
    status: "firing",
    name: "HighErrorRate",
    labels: { alertname: "HighErrorRate", severity: "critical", service: "checkout" },
    summary: "5xx at 12 %",
    startsAt: STARTED,
    ...more,
  };
}

/** How a group of alerts stands after `last` entries of its journal, as its handler tells the thread. */
export function alertState(
  last: number,
  more: Partial<Draft<"alert_state">> = {},
): Draft<"alert_state"> {
  const { group = "g1.0", of = OF } = more;
  return {
    id: `alert:${of}:${group}@${last}`,
    kind: "alert_state",
    of,
    group,
    last,
    name: "HighErrorRate",
    firing: 1,
    acknowledged: 0,
    resolved: 0,
    told: last,
    folded: [],
    startedAt: STARTED,
    alerts: [alertFields()],
    ...more,
  };
}

/** All of it is over, so many minutes after it began. */
export function overState(last: number, minutes: number): Draft<"alert_state"> {
  const overAt = STARTED + minutes * 60_000;
  const alert = alertFields({ status: "resolved", endsAt: overAt });
  return alertState(last, { firing: 0, resolved: 1, overAt, alerts: [alert] });
}
