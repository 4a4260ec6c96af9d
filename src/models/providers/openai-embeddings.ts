import type OpenAI from "openai";
import type { Embedder } from "../../core/embedder.ts";
import { failure } from "../errors.ts";
import { exchange, watchedFetch } from "../fetch-guard.ts";
import { OPENAI_VARIABLES, openAiClient } from "./openai-access.ts";

/** Of a text so much says what it is about; models take 8 000 tokens and more. */
const MAX_CHARS = 8_000;

interface Access {
  readonly apiKey?: string | undefined;
  readonly baseURL: string;
}

/** OpenAI's Embeddings API, also as other servers speak it. Reaches for no network yet. */
export function createOpenAiEmbedder(id: string, name: string, access: Access): Embedder {
  const { apiKey = "", baseURL } = access;
  let client: Promise<OpenAI> | undefined;
  return {
    id,
    embed(texts, signal) {
      const caller = { id, apiKey, variables: OPENAI_VARIABLES, signal };
      return exchange(caller, async () => {
        client ??= openAiClient({ apiKey: apiKey || "none", baseURL, fetch: watchedFetch(id) });
        const input = texts.map((text) => text.slice(0, MAX_CHARS).toWellFormed());
        const body = { model: name, input, encoding_format: "float" as const };
        const { data } = await (await client).embeddings.create(body, { signal });
        const vectors = data
          .toSorted((a, b) => a.index - b.index)
          .map(({ embedding }) => Float32Array.from(embedding));
        const isWhole = vectors.length === texts.length && vectors.every(isVector);
        if (!isWhole) throw failure("MODEL_CUT", "it gave no vector for some texts", caller);
        return vectors;
      });
    },
  };
}

/** One of zeros has no direction. */
function isVector(vector: Float32Array): boolean {
  return vector.every(Number.isFinite) && vector.some((number) => number !== 0);
}
