import * as z from "zod";
import { endpointsOf, instanceSettings, proofsOf, variablesIn } from "../instances.ts";
import { defineIntegration } from "../integration.ts";

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
  async tools(settings, { variable }) {
    const { createTools } = await import("./tools.ts");
    return createTools(endpointsOf(settings, variable));
  },
  proofs: (settings, { variable }) =>
    proofsOf("prometheus", endpointsOf(settings, variable), {
      tool: "prometheus_query",
      args: { query: "vector(1)" },
    }),
});
