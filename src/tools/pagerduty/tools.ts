import type { Tool } from "../tool.ts";
import { pagersOf, type PagerdutySettings } from "./pagers.ts";
import { createIncident, createIncidents, createOncall } from "./reads.ts";
import { createNote, createOpen, createUpdate } from "./writes.ts";

/** Every tool of PagerDuty, for these accounts. */
export function createPagerdutyTools(
  settings: PagerdutySettings,
  variable: (name: string) => string,
): readonly Tool[] {
  const pagers = pagersOf(settings, variable);
  return [
    createOncall(pagers),
    createIncidents(pagers),
    createIncident(pagers),
    createUpdate(pagers),
    createNote(pagers),
    createOpen(pagers),
  ];
}
