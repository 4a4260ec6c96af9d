import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadModel, type ModelSettings } from "../../src/models/load.ts";
import { failureOf, requestOf, said } from "./harness.ts";
import { type ModelServer, startModelServer } from "../fakes/model-server.ts";
import { anthropic, compatible, openai } from "./dialects.ts";

const KEYS: ModelSettings = { values: { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "b" } };
const NOTHING: ModelSettings = { values: {} };

describe("a model by its id", () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer();
  });
  afterAll(() => server.close());

  test.each([
    [anthropic, "/v1/messages", "Bearer key-a"],
    [openai, "/v1/responses", "Bearer key-b"],
    [compatible, "/v1/chat/completions", "Bearer key-b"],
  ])("$wire speaks to its own address with its own key", async (dialect, path, key) => {
    server.seen.length = 0;
    server.answer({ status: 529 }, { pieces: dialect.events({ text: ["Hi."] }) });
    const id = `${dialect.wire}/vendor/name-1`;
    const model = await loadModel(id, {
      values: {
        ANTHROPIC_API_KEY: "key-a",
        ANTHROPIC_BASE_URL: server.url,
        OPENAI_API_KEY: "key-b",
        OPENAI_BASE_URL: `${server.url}/v1`,
      },
      effort: "high",
    });
    expect(model.id).toBe(id);
    const { signal } = new AbortController();
    await model.generate(requestOf([said("Hello")]), { signal });
    expect(server.seen.map((seen) => seen.path)).toEqual([path, path]);
    expect(server.seen[0]?.headers.authorization).toBe(key);
    const body = server.seen[0]?.body ?? "";
    expect(JSON.parse(body)).toMatchObject({ model: "vendor/name-1", stream: true });
    expect(body).toMatch(/"(?:effort|reasoning_effort)":"high"/);
  });

  test("a server of one's own may want no key", async () => {
    server.seen.length = 0;
    server.answer({ pieces: compatible.events({ text: ["Hi."] }) });
    const model = await loadModel("openai-compatible/qwen", {
      values: { OPENAI_BASE_URL: `${server.url}/v1` },
    });
    const { signal } = new AbortController();
    expect((await model.generate(requestOf([said("Hello")]), { signal })).stop).toBe("end_turn");
  });

  test("the context window is its wire's, unless the settings know better", async () => {
    const settings = { values: { ...KEYS.values, OPENAI_BASE_URL: "http://127.0.0.1:1/v1" } };
    const windows = ["anthropic/a", "openai/b", "openai-compatible/c"].map(
      async (id) => (await loadModel(id, settings)).contextWindow,
    );
    expect(await Promise.all(windows)).toEqual([200_000, 400_000, 128_000]);
    const own = await loadModel("anthropic/a", { ...settings, contextWindow: 1_000_000 });
    expect(own.contextWindow).toBe(1_000_000);
  });

  test.each([
    ["", KEYS, "anthropic/<name>"],
    ["claude", KEYS, "anthropic/<name>"],
    ["unknown/pro", KEYS, "anthropic/<name>"],
    ["anthropic/", KEYS, "anthropic/<name>"],
    ["toString/a", KEYS, "anthropic/<name>"],
    ["anthropic/a b", KEYS, "anthropic/<name>"],
    ["anthropic/a", NOTHING, "ANTHROPIC_API_KEY"],
    ["openai/a", NOTHING, "OPENAI_API_KEY"],
    ["openai-compatible/a", KEYS, "OPENAI_BASE_URL"],
  ])("%j with %j is refused in words that help", async (id, settings, hint) => {
    const error = await failureOf(loadModel(id, settings));
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toContain(hint);
  });
});
