import { LLMock } from "@copilotkit/aimock";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AssistantBlock } from "../../src/core/block.ts";
import type { Model, Turn } from "../../src/models/model.ts";
import { createRetryingModel } from "../../src/models/retrying.ts";
import { failureOf, requestOf, said } from "./harness.ts";
import { anthropic, compatible, openai } from "./dialects.ts";

function textOf(content: readonly AssistantBlock[]): string {
  return content.map((block) => (block.kind === "text" ? block.text : "")).join("");
}

/** The real clients against another's idea of the three providers: what is wrong in our own fake would show here. */
describe.each([anthropic, openai, compatible])("$wire against aimock", (dialect) => {
  let mock: LLMock;
  let model: Model;
  const { signal } = new AbortController();
  beforeEach(async () => {
    mock = new LLMock({ port: 0, strict: true, logLevel: "silent" });
    await mock.start();
    model = dialect.create({ baseURL: mock.url });
  });
  afterEach(() => mock.stop());

  test("a loop of two calls at once and then an answer", async () => {
    mock.on(
      { userMessage: "is the shop up", hasToolResult: false },
      {
        content: "Looking.",
        toolCalls: [
          { id: "toolu_1", name: "http_check", arguments: '{"url":"https://shop.example"}' },
          { id: "toolu_2", name: "read_log", arguments: '{"path":"/var/log/shop.log"}' },
        ],
      },
    );
    mock.on(
      { userMessage: "is the shop up", toolResultContains: "OutOfMemory" },
      {
        content: "No: it ran out of memory.",
        usage: { input_tokens: 111, output_tokens: 22, prompt_tokens: 111, completion_tokens: 22 },
      },
    );
    const turns: Turn[] = [said("is the shop up")];
    const first = await model.generate(requestOf(turns), { signal });
    expect(first.stop).toBe("tool_use");
    const calls = first.content.flatMap((block) => (block.kind === "tool_use" ? [block] : []));
    expect(calls.map(({ name }) => name)).toEqual(["http_check", "read_log"]);
    turns.push(
      { role: "assistant", content: first.content, model: model.id },
      {
        role: "tool",
        results: calls.map(({ id }, i) => ({
          id,
          text: i === 0 ? "HTTP 503" : "java.lang.OutOfMemoryError",
          isError: false,
          files: [],
        })),
      },
    );
    const deltas: unknown[] = [];
    const second = await model.generate(requestOf(turns), {
      signal,
      onDelta: (text) => deltas.push(text),
    });
    expect(second.stop).toBe("end_turn");
    expect(textOf(second.content)).toBe("No: it ran out of memory.");
    expect(deltas.join("")).toBe("No: it ran out of memory.");
    expect(second.usage).toEqual({ input: 111, output: 22, cacheRead: 0, cacheWrite: 0 });
  });

  test("a stream that is cut at any chunk brings no response", async () => {
    let cut = 0;
    let isWhole = false;
    for (; !isWhole && cut < 60; cut += 1) {
      mock.clearFixtures();
      mock.on(
        { userMessage: "hello" },
        { content: "A somewhat longer answer than one chunk holds." },
        { chunkSize: 12, truncateAfterChunks: cut + 1 },
      );
      try {
        const { content } = await model.generate(requestOf([said("hello")]), { signal });
        expect(textOf(content)).toBe("A somewhat longer answer than one chunk holds.");
        isWhole = true;
      } catch (error) {
        // The first chunks may not have left when the connection is cut.
        expect(["MODEL_CUT", "MODEL_UNREACHABLE"]).toContain((error as { code?: string }).code);
      }
    }
    expect(isWhole).toBe(true);
    expect(cut).toBeGreaterThan(4);
  });

  test("an overload and a rate limit are outlasted, the text is then streamed once more", async () => {
    const patient = createRetryingModel(model, { firstDelayMs: 5 });
    mock.on(
      { userMessage: "hello", sequenceIndex: 0 },
      { error: { message: "Overloaded", type: "overloaded_error" }, status: 529 },
    );
    mock.on(
      { userMessage: "hello", sequenceIndex: 1 },
      { error: { message: "Slow down", type: "rate_limit_error" }, status: 429, retryAfter: 0.02 },
    );
    mock.on({ userMessage: "hello", sequenceIndex: 2 }, { content: "At your service." });
    const { content } = await patient.generate(requestOf([said("hello")]), { signal });
    expect(textOf(content)).toBe("At your service.");
    expect(mock.getRequests()).toHaveLength(3);
  });

  test("a key that is refused is said at once", async () => {
    const patient = createRetryingModel(model, { firstDelayMs: 5 });
    mock.nextRequestError(401, { message: "invalid x-api-key", type: "authentication_error" });
    const error = await failureOf(patient.generate(requestOf([said("hello")]), { signal }));
    expect(error.code).toBe("MODEL_AUTH");
    expect(mock.getRequests()).toHaveLength(1);
  });
});
