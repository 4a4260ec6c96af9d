import { afterAll, beforeAll, expect, test } from "vitest";
import { loadEmbedder } from "../../src/models/load.ts";
import { type ModelServer, startModelServer } from "../fakes/model-server.ts";
import { failureOf } from "./harness.ts";

let server: ModelServer;
beforeAll(async () => void (server = await startModelServer()));
afterAll(() => server.close());

const { signal } = new AbortController();
const embedder = (apiKey = "sk-test-1234") =>
  loadEmbedder("openai-compatible/nomic", {
    values: { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: server.url },
  });

function answer(data: object[]): void {
  server.answer({
    headers: { "content-type": "application/json" },
    pieces: [
      JSON.stringify({
        object: "list",
        model: "nomic",
        data,
        usage: { prompt_tokens: 2, total_tokens: 2 },
      }),
    ],
  });
}

const vector = (index: number, ...embedding: number[]) => ({
  object: "embedding",
  index,
  embedding,
});

test("texts have a vector each, in their order", async () => {
  answer([vector(1, 0, 1), vector(0, 0.5, 0.25)]);
  const found = await embedder().embed(["one", "two".repeat(9_000)], signal);
  expect(found).toEqual([Float32Array.of(0.5, 0.25), Float32Array.of(0, 1)]);
  const { model, input, encoding_format } = JSON.parse(server.seen.at(-1)?.body ?? "");
  expect({ model, encoding_format, lengths: input.map(({ length }: string) => length) }).toEqual({
    model: "nomic",
    encoding_format: "float",
    lengths: [3, 8_000],
  });
});

test.each([[[]], [[vector(0)]], [[vector(0, 0, 0)]]])(
  "too few vectors, or none, are a failure: %j",
  async (data) => {
    answer(data.length === 0 ? [] : data);
    const error = await failureOf(embedder().embed(["one"], signal));
    expect(error.code).toBe("MODEL_CUT");
  },
);

test("what is wrong with the key is said without it", async () => {
  server.answer({ status: 401, pieces: ['{"error":{"message":"bad key sk-test-1234"}}'] });
  const error = await failureOf(embedder().embed(["one"], signal));
  expect(error.code).toBe("MODEL_AUTH");
  expect(error.message).not.toContain("sk-test-1234");
});
