import type { Endpoint } from "../http.ts";
import type { Tool } from "../tool.ts";
import { createAlerts } from "./alerts.ts";
import { createChanges } from "./changes.ts";
import { createPercentiles } from "./percentiles.ts";
import { createQuery } from "./query.ts";
import { createSearch } from "./search.ts";
import { createTargets } from "./targets.ts";

/** Every tool of Prometheus, for these servers. */
export function createTools(instances: Readonly<Record<string, Endpoint>>): readonly Tool[] {
  return [
    createQuery(instances),
    createChanges(instances),
    createPercentiles(instances),
    createAlerts(instances),
    createTargets(instances),
    createSearch(instances),
  ];
}
