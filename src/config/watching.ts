import * as z from "zod";
import { defineSettings, fromEnv, secretText } from "../core/settings.ts";

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** What operators watch the program with. */
export const watchingPart = defineSettings({
  name: "watching",
  settings: z.object({
    metricsToken: fromEnv(
      "METRICS_TOKEN",
      secretText(
        /^[!-~]{16,256}$/,
        "16 to 256 characters without spaces, such as what `openssl rand -hex 16` prints",
      ).optional(),
      "Prometheus may read `GET /metrics` on `PORT` with `Authorization: Bearer …`. See [operating](operate.md#metrics).",
      { unset: "no metrics" },
    ),
    tracesEndpoint: fromEnv(
      "OTEL_EXPORTER_OTLP_ENDPOINT",
      z
        .url({ protocol: /^https?$/ })
        .refine(
          (url) => !/^\w+:\/\/[^/]*@/.test(url),
          "expected an address without a name and a password: put them into OTEL_EXPORTER_OTLP_HEADERS",
        )
        .optional(),
      "Where traces of runs are sent by OTLP over HTTP, such as `http://collector:4318`. See [operating](operate.md#traces).",
      { unset: "no traces" },
    ),
    tracesHeaders: fromEnv(
      "OTEL_EXPORTER_OTLP_HEADERS",
      z
        .string()
        .trim()
        .regex(/^[\w-]+=[^,\s]+(,[\w-]+=[^,\s]+)*$/, "expected `name=value,name=value`")
        .refine(isDecodable, "expected values in which `%` begins two hexadecimal digits")
        .optional(),
      "Headers that the collector wants, as `name=value,name=value`; other characters percent-encoded, such as a space as `%20`.",
      { secret: true },
    ),
  }),
});
