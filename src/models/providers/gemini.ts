import * as z from "zod";
import { apiKey, baseUrl, fromEnv } from "../../core/settings.ts";
import { defineProvider } from "../provider.ts";
import { createChatModel } from "./chat-completions.ts";
import { openAiClient } from "./openai-access.ts";

/** Google's address for clients that speak Chat Completions (ai.google.dev/gemini-api/docs/openai). */
const GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta/openai";

/** Gemini by its interface that speaks Chat Completions. */
export const gemini = defineProvider({
  name: "gemini",
  example: "gemini-2.5-pro",
  contextWindow: 1_000_000,
  settings: z.object({
    apiKey: fromEnv("GEMINI_API_KEY", apiKey.optional(), "Needed with `gemini/…`."),
    baseURL: fromEnv(
      "GEMINI_BASE_URL",
      baseUrl.optional(),
      "An http or https URL, if not Google's own address.",
    ),
  }),
  missing: (settings) => (settings.apiKey === undefined ? "GEMINI_API_KEY" : undefined),
  create(options, { apiKey: key = "", baseURL = GEMINI_URL }) {
    return createChatModel(options, {
      id: `gemini/${options.name}`,
      apiKey: key,
      variables: { key: "GEMINI_API_KEY", address: "GEMINI_BASE_URL" },
      throttles: true,
      // Gemini takes requests of 20 MB with files in them.
      maxFileBytes: 14 * 1024 * 1024,
      connect: (fetch) => openAiClient({ apiKey: key, baseURL, fetch }),
    });
  },
});
