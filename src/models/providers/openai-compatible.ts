import { defineProvider } from "../provider.ts";
import { createChatModel } from "./chat-completions.ts";
import { OPENAI_VARIABLES, openAiClient, openAiSettings } from "./openai-access.ts";

/** OpenAI's Chat Completions API as others speak it: vLLM, Ollama, llama.cpp, OpenRouter, Groq … */
export const openAiCompatible = defineProvider({
  name: "openai-compatible",
  example: "llama3.2",
  // Such servers are set up with very different ones.
  contextWindow: 128_000,
  settings: openAiSettings,
  missing: ({ baseURL }) => (baseURL === undefined ? "OPENAI_BASE_URL" : undefined),
  create(options, { apiKey = "", baseURL = "" }) {
    return createChatModel(options, {
      id: `openai-compatible/${options.name}`,
      apiKey,
      variables: OPENAI_VARIABLES,
      // The SDK wants a key also for servers that want none.
      connect: (fetch) => openAiClient({ apiKey: apiKey || "none", baseURL, fetch }),
    });
  },
});
