import { describe, expect, test } from "vitest";
import type { Turn } from "../../src/models/model.ts";
import { shownTo } from "../../src/models/shown-files.ts";
import { startModelServer } from "../fakes/model-server.ts";
import { anthropic, KEY } from "./dialects.ts";
import { PIXEL, requestOf, said } from "./harness.ts";
import { costOf, knownModel, priceText } from "../../src/models/known.ts";
import { contextWindowOf, loadModel, PROVIDERS, takenBy } from "../../src/models/load.ts";

describe("what is known of a model", () => {
  test("is found by its name, with or without the day of a snapshot, whoever serves it", () => {
    for (const id of [
      "anthropic/claude-haiku-4-5",
      "anthropic/claude-haiku-4-5-20251001",
      "bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0",
      "vertex/claude-haiku-4-5@20251001",
    ]) {
      expect(knownModel(id), id).toMatchObject({ contextWindow: 200_000, thinking: "fixed" });
    }
    expect(knownModel("openai/gpt-5.4-2026-03-05").price?.input).toBe(2.5);
  });

  test("has a price only where its maker sells it; elsewhere, and of others, it is unknown", () => {
    expect(knownModel("bedrock/anthropic.claude-haiku-4-5-20251001-v1:0").price).toBeUndefined();
    expect(knownModel("openai-compatible/gpt-5.4")).toEqual({ price: undefined });
    expect(knownModel("anthropic/toString").contextWindow).toBeUndefined();
    expect(priceText(knownModel("openai/gpt-99").price)).toBe("price unknown");
  });

  test("gives way to what the yaml says, value by value", () => {
    const own = {
      "anthropic/claude-opus-5": { price: { input: 1, output: 2 }, effort: undefined },
    };
    const known = knownModel("anthropic/claude-opus-5", own);
    expect(known).toMatchObject({ price: { input: 1, output: 2 }, effort: true });
    expect(known.contextWindow).toBe(1_000_000);
    const models = { "openai-compatible/qwen3": { contextWindow: 8_192 } };
    expect(contextWindowOf("openai-compatible/qwen3", { models })).toBe(8_192);
    expect(contextWindowOf("openai-compatible/qwen3", { models, contextWindow: 9_000 })).toBe(
      9_000,
    );
    expect(contextWindowOf("anthropic/claude-opus-5")).toBe(1_000_000);
  });

  test("says what a request cost, cached input at its own price, and large ones at theirs", () => {
    const { price } = knownModel("anthropic/claude-haiku-5-5");
    const usage = { input: 10_000, output: 1_000, cacheRead: 80_000, cacheWrite: 10_000 };
    expect(costOf(usage, price)).toBeCloseTo(0.001 + 0.0005 + 0.0008 + 0.00125, 10);
    expect(costOf({ ...usage, input: 10_001 }, price)).toBeCloseTo(
      0.0050005 + 0.0025 + 0.004 + 0.00625,
      10,
    );
    expect(costOf(usage, { input: 1, output: 2 })).toBeCloseTo(0.102, 10);
    expect(costOf(usage, undefined)).toBeUndefined();
    expect(priceText(price)).toBe(
      "$0.1 per million tokens in ($0.01 cached), $0.5 out; $0.5 and $2.5 for requests above 100,000 tokens",
    );
  });

  test("names the example of each provider that sells its own models", () => {
    const own = PROVIDERS.filter(({ suffices }) => suffices !== undefined);
    for (const { name, example } of own)
      expect(knownModel(`${name}/${example}`).price, example).toBeDefined();
  });
});

describe("a wish that a model refuses is not sent", () => {
  const wish = { effort: "high", thinking: 40_000 } as const;
  test.each([
    ["anthropic/claude-haiku-4-5", wish, { effort: undefined, thinking: 32_000 }],
    ["anthropic/claude-haiku-4-5", { thinking: "adaptive" as const }, { thinking: undefined }],
    ["anthropic/claude-sonnet-5-5", wish, { effort: "high", thinking: "adaptive" }],
    ["openai/gpt-6-sol", wish, { effort: "high", thinking: undefined }],
    ["anthropic/a-new-one", wish, wish],
    ["anthropic/a-new-one", {}, { effort: undefined, thinking: undefined }],
  ])("%s with %j", (id, wishes, taken) => {
    expect(takenBy(knownModel(id), wishes)).toEqual(taken);
  });
});

test("files that a model is known not to take are told of instead of shown", () => {
  const pdf = { ...PIXEL, name: "plan.pdf", mediaType: "application/pdf" as const };
  const turns: Turn[] = [
    { role: "user", content: [{ kind: "text", text: "See" }, PIXEL, pdf] },
    { role: "tool", results: [{ id: "a", text: "a graph", isError: false, files: [PIXEL] }] },
  ];
  expect(shownTo({}, turns)).toBe(turns);
  const [asked, told] = shownTo({ images: false }, turns);
  expect(asked).toMatchObject({ content: [{ text: "See" }, { kind: "text" }, pdf] });
  expect(JSON.stringify(asked)).toContain("graph.png");
  expect(told).toMatchObject({ results: [{ files: [] }] });
  expect(JSON.stringify(told)).toContain("takes no such files");
  expect(JSON.stringify(shownTo({ documents: false }, turns)[0])).toContain(PIXEL.data);
});

test("the newest files of a request are shown up to what one may have, and the model reads which are not and why", () => {
  const pdf = (name: string, bytes: number) => ({
    kind: "file" as const,
    name,
    mediaType: "application/pdf" as const,
    data: "A".repeat((bytes * 4) / 3),
  });
  const [old, large, newest] = [pdf("old.pdf", 300), pdf("large.pdf", 900), pdf("new.pdf", 600)];
  const turns: Turn[] = [
    { role: "user", content: [old, { kind: "text", text: "See" }] },
    { role: "tool", results: [{ id: "a", text: "a plan", isError: false, files: [large] }] },
    { role: "user", content: [newest] },
  ];
  expect(shownTo({}, turns, 1_800)).toBe(turns);
  const [asked, told, last] = shownTo({}, turns, 900);
  expect([asked, last]).toMatchObject([{ content: [old, { text: "See" }] }, { content: [newest] }]);
  expect(told).toMatchObject({ results: [{ files: [] }] });
  expect(JSON.stringify(told)).toMatch(
    /large\.pdf.* is not shown: it has 0 MB, and with this model the files of one request may have 0 MB together, the newest first\. Say so/,
  );
});

test.each([
  ["anthropic", 22],
  ["bedrock", 14],
] as const)(
  "a document of 20 MB by %s, whose files may have %i MB together",
  async (name, most) => {
    const server = await startModelServer();
    server.answer({ status: 500, pieces: [] });
    const values = {
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: server.url,
      AWS_REGION: "eu-west-1",
      AWS_BEARER_TOKEN_BEDROCK: KEY,
      ANTHROPIC_BEDROCK_BASE_URL: server.url,
    };
    const model = await loadModel(`${name}/claude-x`, { values }, { attempts: 1 });
    const data = Buffer.alloc(20 * 1024 * 1024).toString("base64");
    const pdf = { kind: "file", name: "plan.pdf", mediaType: "application/pdf", data } as const;
    const { signal } = new AbortController();
    await model.generate(requestOf([{ role: "user", content: [pdf] }]), { signal }).catch(() => {});
    const { body = "" } = server.seen[0] ?? {};
    await server.close();
    expect(body.includes(data)).toBe(most >= 20);
    expect(body.length).toBeLessThan(32_000_000);
    if (most < 20)
      expect(body).toContain(
        "it has 20 MB, and with this model the files of one request may have 14 MB together",
      );
  },
);

test("a model that no schema holds is made to call; its responses are as long as it can", async () => {
  const server = await startModelServer();
  server.answer({
    pieces: anthropic.events({ calls: [{ id: "toolu_1", name: "plan", input: "{}" }] }),
  });
  const known = { structuredOutput: false, maxOutputTokens: 300 };
  const model = anthropic.create({ baseURL: server.url, known });
  const request = requestOf([said("a")], { output: { name: "plan", schema: { type: "object" } } });
  await model.generate(request, { signal: new AbortController().signal });
  const [{ body } = { body: "" }, ...more] = server.seen;
  expect(JSON.parse(body)).toMatchObject({ max_tokens: 300, tool_choice: { name: "plan" } });
  expect(more).toEqual([]);
  await server.close();
});
