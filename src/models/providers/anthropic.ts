import * as z from "zod";
import { apiKey, baseUrl, fromEnv } from "../../core/settings.ts";
import { defineProvider } from "../provider.ts";
import { createMessagesModel } from "./messages.ts";

/** Anthropic's Messages API. */
export const anthropic = defineProvider({
  name: "anthropic",
  example: "claude-sonnet-5-5",
  suffices: (settings) => settings.apiKey !== undefined,
  contextWindow: 200_000,
  settings: z.object({
    apiKey: fromEnv("ANTHROPIC_API_KEY", apiKey.optional(), "Needed with `anthropic/…`."),
    baseURL: fromEnv(
      "ANTHROPIC_BASE_URL",
      baseUrl.optional(),
      "An http or https URL, if not Anthropic's own address.",
    ),
  }),
  missing: (settings) => (settings.apiKey === undefined ? "ANTHROPIC_API_KEY" : undefined),
  create(options, { apiKey: key = "", baseURL = "https://api.anthropic.com" }) {
    return createMessagesModel(options, {
      id: `anthropic/${options.name}`,
      apiKey: key,
      variables: { key: "ANTHROPIC_API_KEY", address: "ANTHROPIC_BASE_URL" },
      async connect(fetch) {
        const { Anthropic: Client } = await import("@anthropic-ai/sdk");
        return new Client({ apiKey: key, baseURL, fetch, maxRetries: 0, logLevel: "off" });
      },
    });
  },
});
