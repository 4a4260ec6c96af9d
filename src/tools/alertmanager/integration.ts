import * as z from "zod";
import { apiKey, baseUrl, fromEnv } from "../../core/settings.ts";
import { defineIntegration } from "../integration.ts";
import { createAlerts } from "./alerts.ts";
import { createSilence } from "./create-silence.ts";
import { createExpireSilence } from "./expire-silence.ts";
import { createSilences } from "./silences.ts";

/** What fires, and what is silenced. */
export const alertmanager = defineIntegration({
  name: "alertmanager",
  settings: z.object({
    url: fromEnv("ALERTMANAGER_URL", baseUrl.optional(), "Address of Alertmanager."),
    token: fromEnv("ALERTMANAGER_TOKEN", apiKey.optional(), "Bearer token for ALERTMANAGER_URL."),
  }),
  unavailable: ({ url }) => (url === undefined ? "ALERTMANAGER_URL is not set." : undefined),
  tools({ url = "", token }) {
    const credential = token === undefined ? undefined : { kind: "bearer" as const, secret: token };
    const instances = { alertmanager: { url, credential } };
    return [
      createAlerts(instances),
      createSilences(instances),
      createSilence(instances),
      createExpireSilence(instances),
    ];
  },
});
