import * as z from "zod";
import { endpointsOf, instanceSettings, proofsOf, variablesIn } from "../instances.ts";
import { defineIntegration } from "../integration.ts";

/** What fires, and what is silenced. */
export const alertmanager = defineIntegration({
  name: "alertmanager",
  settings: z.object(
    instanceSettings({ name: "alertmanager", title: "Alertmanager", prefix: "ALERTMANAGER" }),
  ),
  variables: variablesIn,
  unavailable: ({ url, named }) =>
    url === undefined && Object.keys(named).length === 0
      ? "ALERTMANAGER_URL is not set, and integrations.alertmanager names no server"
      : undefined,
  async tools(settings, { variable }) {
    const { createTools } = await import("./tools.ts");
    return createTools(endpointsOf(settings, variable));
  },
  proofs: (settings, { variable }) =>
    proofsOf("alertmanager", endpointsOf(settings, variable), {
      tool: "alertmanager_alerts",
      args: {},
    }),
});
