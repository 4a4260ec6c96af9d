import type OpenAI from "openai";
import type { JsonObject } from "../../core/entry.ts";
import * as z from "zod";
import { apiKey, baseUrl, fromEnv } from "../../core/settings.ts";
import type { Fetch } from "../fetch-guard.ts";

/** How OpenAI and servers that speak its language are reached: one key and one address for both. */
export const openAiSettings = z.object({
  apiKey: fromEnv(
    "OPENAI_API_KEY",
    apiKey.optional(),
    "Needed with `openai/…`; with `openai-compatible/…` if the server wants one.",
  ),
  baseURL: fromEnv(
    "OPENAI_BASE_URL",
    baseUrl.optional(),
    "Needed with `openai-compatible/…`, such as `http://localhost:11434/v1`. With `openai/…` only if not OpenAI's own address.",
  ),
});

export const OPENAI_URL = "https://api.openai.com/v1";

export const OPENAI_VARIABLES = { key: "OPENAI_API_KEY", address: "OPENAI_BASE_URL" };

/** The schema as OpenAI holds a model to it byte by byte; schemas that it cannot are only shown to the model. */
export async function strictly(schema: JsonObject) {
  const { toStrictJsonSchema } = await import("openai/lib/transform");
  try {
    return { schema: { ...toStrictJsonSchema(schema) }, strict: true };
  } catch {
    return { schema, strict: false };
  }
}

export async function openAiClient(access: {
  apiKey: string;
  baseURL: string;
  fetch: Fetch;
}): Promise<OpenAI> {
  const { OpenAI: Client } = await import("openai");
  return new Client({
    ...access,
    // Else it would read them from variables of its own.
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    logLevel: "off",
  });
}
