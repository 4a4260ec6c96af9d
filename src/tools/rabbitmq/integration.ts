import * as z from "zod";
import { endpointsOf, instanceSettings, proofsOf, variablesIn } from "../instances.ts";
import { defineIntegration } from "../integration.ts";

/** RabbitMQ 3.8 and newer, by its management API: queues that nobody reads, alarms, nodes and blocked publishers. */
export const rabbitmq = defineIntegration({
  name: "rabbitmq",
  settings: z.object(
    instanceSettings({
      name: "rabbitmq",
      title: "RabbitMQ's management API",
      prefix: "RABBITMQ",
    }),
  ),
  variables: variablesIn,
  unavailable: ({ url, named }) =>
    url === undefined && Object.keys(named).length === 0
      ? "RABBITMQ_URL is not set, and integrations.rabbitmq names no server"
      : undefined,
  async tools(settings, { variable }) {
    const { createDiagnose } = await import("./diagnose.ts");
    return [createDiagnose(endpointsOf(settings, variable))];
  },
  proofs: (settings, { variable }) =>
    proofsOf("rabbitmq", endpointsOf(settings, variable), { tool: "rabbitmq_diagnose", args: {} }),
});
