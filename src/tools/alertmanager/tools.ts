import type { Endpoint } from "../http.ts";
import type { Tool } from "../tool.ts";
import { createAlerts } from "./alerts.ts";
import { createSilence } from "./create-silence.ts";
import { createExpireSilence } from "./expire-silence.ts";
import { createSilences } from "./silences.ts";

/** Every tool of Alertmanager, for these servers. */
export function createTools(instances: Readonly<Record<string, Endpoint>>): readonly Tool[] {
  return [
    createAlerts(instances),
    createSilences(instances),
    createSilence(instances),
    createExpireSilence(instances),
  ];
}
