import * as z from "zod";
import { apiKey, baseUrl, fromEnv } from "../../core/settings.ts";
import { defineProvider } from "../provider.ts";
import { createResponsesModel } from "./responses.ts";

/** OpenAI's models on Azure, by the name of their deployment, with the Responses API. */
export const azure = defineProvider({
  name: "azure",
  example: "my-deployment",
  contextWindow: 128_000,
  settings: z.object({
    apiKey: fromEnv("AZURE_OPENAI_API_KEY", apiKey.optional(), "Needed with `azure/…`."),
    endpoint: fromEnv(
      "AZURE_OPENAI_ENDPOINT",
      baseUrl.optional(),
      "Needed with `azure/…`: your resource, such as `https://example.openai.azure.com`.",
    ),
    apiVersion: fromEnv(
      "AZURE_OPENAI_API_VERSION",
      z
        .string()
        .trim()
        .regex(
          /^(?:\d{4}-\d{2}-\d{2}(?:-preview)?|preview)$/,
          "expected a version such as 2025-04-01-preview",
        )
        .prefault("2025-04-01-preview"),
      "The version of Azure's interface; the Responses API needs 2025-03-01-preview or later.",
    ),
  }),
  missing({ apiKey: key, endpoint }) {
    if (endpoint === undefined) return "AZURE_OPENAI_ENDPOINT";
    return key === undefined ? "AZURE_OPENAI_API_KEY" : undefined;
  },
  create(options, { apiKey: key = "", endpoint = "", apiVersion }) {
    return createResponsesModel(options, {
      id: `azure/${options.name}`,
      apiKey: key,
      variables: { key: "AZURE_OPENAI_API_KEY", address: "AZURE_OPENAI_ENDPOINT" },
      async connect(fetch) {
        const { AzureOpenAI: Client } = await import("openai/azure");
        const quiet = { maxRetries: 0, logLevel: "off" as const };
        return new Client({
          apiKey: key,
          endpoint,
          apiVersion,
          fetch,
          organization: null,
          ...quiet,
        });
      },
    });
  },
});
