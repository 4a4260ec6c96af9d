import * as z from "zod";
import { endpointsOf, instanceSettings, proofsOf, variablesIn } from "../instances.ts";
import { defineIntegration } from "../integration.ts";

/** Dashboards, their panels' data, and annotations. */
export const grafana = defineIntegration({
  name: "grafana",
  settings: z.object(instanceSettings({ name: "grafana", title: "Grafana", prefix: "GRAFANA" })),
  variables: variablesIn,
  unavailable: ({ url, named }) =>
    url === undefined && Object.keys(named).length === 0
      ? "GRAFANA_URL is not set, and integrations.grafana names no server"
      : undefined,
  async tools(settings, { variable }) {
    const { createGrafanaTools } = await import("./tools.ts");
    return createGrafanaTools(endpointsOf(settings, variable));
  },
  async changes(settings, { variable }) {
    const { changeSource } = await import("./annotations.ts");
    return changeSource(endpointsOf(settings, variable));
  },
  proofs: (settings, { variable }) =>
    proofsOf("grafana", endpointsOf(settings, variable), { tool: "grafana_search", args: {} }),
});
