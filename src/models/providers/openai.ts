import { defineProvider } from "../provider.ts";
import { OPENAI_URL, OPENAI_VARIABLES, openAiClient, openAiSettings } from "./openai-access.ts";
import { createResponsesModel } from "./responses.ts";

/** OpenAI's Responses API. */
export const openai = defineProvider({
  name: "openai",
  example: "gpt-5.4",
  // Another address is another server, with models of its own.
  suffices: (settings) => settings.apiKey !== undefined && settings.baseURL === undefined,
  contextWindow: 400_000,
  settings: openAiSettings,
  missing: ({ apiKey }) => (apiKey === undefined ? "OPENAI_API_KEY" : undefined),
  create(options, { apiKey = "", baseURL = OPENAI_URL }) {
    return createResponsesModel(options, {
      id: `openai/${options.name}`,
      apiKey,
      variables: OPENAI_VARIABLES,
      connect: (fetch) => openAiClient({ apiKey, baseURL, fetch }),
    });
  },
});
