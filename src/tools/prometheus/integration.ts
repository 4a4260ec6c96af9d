import * as z from "zod";
import { endpointsOf, instanceSettings, proofsOf, variablesIn } from "../instances.ts";
import { defineIntegration } from "../integration.ts";
import { createAlerts } from "./alerts.ts";
import { createChanges } from "./changes.ts";
import { createPercentiles } from "./percentiles.ts";
import { createQuery } from "./query.ts";
import { createSearch } from "./search.ts";
import { createTargets } from "./targets.ts";

/** Metrics in Prometheus, VictoriaMetrics, or whatever else speaks Prometheus' HTTP API. */
export const prometheus = defineIntegration({
  name: "prometheus",
  settings: z.object(
    instanceSettings({ name: "prometheus", title: "Prometheus", prefix: "PROMETHEUS" }),
  ),
  variables: variablesIn,
  unavailable: ({ url, named }) =>
    url === undefined && Object.keys(named).length === 0
      ? "PROMETHEUS_URL is not set, and integrations.prometheus names no server"
      : undefined,
  tools(settings, { variable }) {
    const instances = endpointsOf(settings, variable);
    return [
      createQuery(instances),
      createChanges(instances),
      createPercentiles(instances),
      createAlerts(instances),
      createTargets(instances),
      createSearch(instances),
    ];
  },
  proofs: (settings, { variable }) =>
    proofsOf("prometheus", endpointsOf(settings, variable), {
      tool: "prometheus_query",
      args: { query: "vector(1)" },
    }),
});
