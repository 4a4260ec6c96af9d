import * as z from "zod";
import { apiKey, baseUrl, fromEnv } from "../../core/settings.ts";
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
  settings: z.object({
    url: fromEnv("PROMETHEUS_URL", baseUrl.optional(), "Address of Prometheus or VictoriaMetrics."),
    token: fromEnv("PROMETHEUS_TOKEN", apiKey.optional(), "Bearer token for PROMETHEUS_URL."),
  }),
  unavailable: ({ url }) => (url === undefined ? "PROMETHEUS_URL is not set." : undefined),
  tools({ url = "", token }) {
    const credential = token === undefined ? undefined : { kind: "bearer" as const, secret: token };
    const instances = { prometheus: { url, credential } };
    return [
      createQuery(instances),
      createChanges(instances),
      createPercentiles(instances),
      createAlerts(instances),
      createTargets(instances),
      createSearch(instances),
    ];
  },
});
