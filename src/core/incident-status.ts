import type { Content } from "./entry.ts";

/** How an incident stands. */
export type IncidentStatus = Content<"incident_state">["status"];

/** It has ended, or never was one. */
export function isOverStatus(status: IncidentStatus): boolean {
  return status === "resolved" || status === "false_alarm";
}
