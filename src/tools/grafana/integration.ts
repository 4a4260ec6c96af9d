import * as z from "zod";
import { endpointsOf, instanceSettings, proofsOf, variablesIn } from "../instances.ts";
import { fromEnv } from "../../core/settings.ts";
import { defineIntegration } from "../integration.ts";

/** Dashboards, their panels' data, and annotations. */
export const grafana = defineIntegration({
  name: "grafana",
  settings: z.object({
    ...instanceSettings({ name: "grafana", title: "Grafana", prefix: "GRAFANA" }),
    markActions: fromEnv(
      "GRAFANA_MARK_ACTIONS",
      z.enum(["no", "yes"]).default("no"),
      "`yes`: each action that was done is marked with an annotation, for everybody who sees annotations.",
    ),
  }),
  variables: (settings) => variablesIn(settings),
  unavailable: ({ url, named }) =>
    url === undefined && Object.keys(named).length === 0
      ? "GRAFANA_URL is not set, and integrations.grafana names no server"
      : undefined,
  async tools(settings, { variable }) {
    const { createGrafanaTools } = await import("./tools.ts");
    return createGrafanaTools(endpointsOf(settings, variable), settings.markActions === "yes");
  },
  async changes(settings, { variable }) {
    const { changeSource } = await import("./annotations.ts");
    return changeSource(endpointsOf(settings, variable));
  },
  proofs: (settings, { variable }) =>
    proofsOf("grafana", endpointsOf(settings, variable), { tool: "grafana_search", args: {} }),
});
