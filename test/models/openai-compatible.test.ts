import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Model, Turn } from "../../src/models/model.ts";
import { modelContract } from "../contracts/model.ts";
import { failureOf, PIXEL, requestOf, said } from "./harness.ts";
import { type ModelServer, startModelServer } from "../fakes/model-server.ts";
import { compatible } from "./dialects.ts";

modelContract(compatible);

describe("the Chat Completions of other servers", () => {
  let server: ModelServer;
  let model: Model;
  const { signal } = new AbortController();
  beforeAll(async () => {
    server = await startModelServer();
  });
  afterAll(() => server.close());
  beforeEach(() => {
    server.seen.length = 0;
    model = compatible.create({ baseURL: server.url });
  });

  async function generate(pieces: string[], turns: Turn[] = [said("a")]) {
    server.answer({ pieces });
    return model.generate(requestOf(turns), { signal });
  }

  async function sent(turns: Turn[]) {
    await generate(compatible.events({ text: ["ok"] }), turns);
    return JSON.parse(server.seen.at(-1)?.body ?? "") as { messages: Record<string, unknown>[] };
  }

  /** Chunks of these deltas, and the end. */
  function chunks(deltas: object[], finish_reason = "tool_calls"): string[] {
    return [...deltas.map((delta) => ({ delta })), { delta: {}, finish_reason }]
      .map((choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`)
      .concat("data: [DONE]\n\n");
  }

  function call(fields: object, name: string | undefined, args: string | undefined) {
    return { tool_calls: [{ ...fields, function: { name, arguments: args } }] };
  }

  test("calls without ids, or with the same one, get ids that differ", async () => {
    const { content, stop, usage } = await generate(
      chunks([
        call({ index: 0 }, "a", '{"n":'),
        call({ index: 1, id: "x" }, "b", "{}"),
        call({ index: 0 }, undefined, "1}"),
        call({ index: 2, id: "x" }, "c", ""),
        call({ index: 3, id: "x_2" }, "d", "{}"),
        call({ index: 4, id: null }, "e", "{}"),
      ]),
    );
    expect(stop).toBe("tool_use");
    expect(content).toEqual([
      { kind: "tool_use", id: "call_0", name: "a", input: '{"n":1}' },
      { kind: "tool_use", id: "x", name: "b", input: "{}" },
      { kind: "tool_use", id: "x_2", name: "c", input: "" },
      { kind: "tool_use", id: "x_2_2", name: "d", input: "{}" },
      { kind: "tool_use", id: "call_4", name: "e", input: "{}" },
    ]);
    expect(usage).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 });
  });

  test("calls without an index are told apart by their ids", async () => {
    const { content } = await generate(
      chunks([
        call({ id: "x" }, "a", '{"n":'),
        call({}, undefined, "1}"),
        call({ id: "y" }, "b", "{}"),
      ]),
    );
    expect(content).toEqual([
      { kind: "tool_use", id: "x", name: "a", input: '{"n":1}' },
      { kind: "tool_use", id: "y", name: "b", input: "{}" },
    ]);
  });

  test("calls are calls though the server says that it merely stopped", async () => {
    const { stop } = await generate(chunks([call({ index: 0, id: "x" }, "a", "{}")], "stop"));
    expect(stop).toBe("tool_use");
  });

  test("a server's own additions to a call and its reasoning are sent back under the same names", async () => {
    const extra_content = { google: { thought_signature: "c2ln" } };
    const { content } = await generate(
      chunks([
        { reasoning: "Is it " },
        { reasoning: "full?", reasoning_details: [] },
        call({ index: 0, id: "x", extra_content }, "a", "{}"),
      ]),
    );
    const { messages } = await sent([
      said("a"),
      { role: "assistant", content, model: model.id },
      { role: "tool", results: [{ id: "x", text: "gone", isError: true, files: [] }] },
    ]);
    expect(messages.slice(2)).toEqual([
      {
        role: "assistant",
        content: null,
        reasoning: "Is it full?",
        tool_calls: [
          { id: "x", type: "function", function: { name: "a", arguments: "{}" }, extra_content },
        ],
      },
      { role: "tool", tool_call_id: "x", content: "Error: gone" },
    ]);
  });

  test("OpenRouter's reasoning details are put together and sent back as they came", async () => {
    const part = (fields: object) => ({ reasoning_details: [{ index: 0, ...fields }] });
    const { content } = await generate(
      chunks([
        part({ type: "reasoning.text", text: "Is it ", format: "x-v1", signature: null }),
        part({ type: "reasoning.text", text: "full?", signature: null }),
        part({ type: "reasoning.text", signature: "c2ln" }),
        part({ type: "reasoning.encrypted", index: 1, data: "AAAA" }),
        part({ type: "reasoning.encrypted", index: 1, data: "BBBB" }),
        call({ index: 0, id: "x" }, "a", "{}"),
      ]),
    );
    const { messages } = await sent([
      said("a"),
      { role: "assistant", content, model: model.id },
      { role: "tool", results: [{ id: "x", text: "ok", isError: false, files: [] }] },
    ]);
    expect(messages[2]?.["reasoning_details"]).toEqual([
      { type: "reasoning.text", index: 0, text: "Is it full?", format: "x-v1", signature: "c2ln" },
      { type: "reasoning.encrypted", index: 1, data: "AAAA" },
      { type: "reasoning.encrypted", index: 1, data: "BBBB" },
    ]);
  });

  test("a content that is a list is read by its parts, and its thoughts are sent back before the text", async () => {
    const thought = (text: string) => ({ type: "thinking", thinking: [{ type: "text", text }] });
    const { content, stop } = await generate(
      chunks(
        [
          { content: [thought("Is it ")] },
          { content: [thought("full?")] },
          { content: [{ type: "text", text: "It is " }] },
          {
            content: [
              { type: "reference", reference_ids: [1] },
              { type: "text", text: "full." },
            ],
          },
          { content: " Really." },
        ],
        "stop",
      ),
    );
    expect(stop).toBe("end_turn");
    expect(content).toMatchObject([
      { kind: "thinking" },
      { kind: "text", text: "It is full. Really." },
    ]);
    const { messages } = await sent([
      said("a"),
      { role: "assistant", content, model: model.id },
      said("b"),
    ]);
    expect(messages[2]?.["content"]).toEqual([
      thought("Is it full?"),
      { type: "text", text: "It is full. Really." },
    ]);
  });

  test("a stream with [DONE] and no finish_reason is complete; without either it is cut", async () => {
    const pieces = chunks([{ content: "It is " }, { content: "full." }]).filter(
      (piece) => !piece.includes("finish_reason"),
    );
    expect(await generate(pieces)).toMatchObject({
      content: [{ kind: "text", text: "It is full." }],
      stop: "end_turn",
    });
    const called = chunks([call({ index: 0, id: "x" }, "a", "{}")]).filter(
      (piece) => !piece.includes("finish_reason"),
    );
    expect(await generate(called)).toMatchObject({ stop: "tool_use" });
    expect((await failureOf(generate(pieces.slice(0, -1)))).code).toBe("MODEL_CUT");
    expect((await failureOf(generate(["data: [DONE]\n\n"]))).code).toBe("MODEL_CUT");
    const quoted = chunks([{ content: "data: [DONE]" }]).slice(0, 1);
    expect((await failureOf(generate(quoted))).code).toBe("MODEL_CUT");
  });

  test.each([
    ["at once", 400],
    ["within the stream", 200],
  ])("a call that the server could not read (%s) is the model's turn", async (_when, status) => {
    const error = {
      message: "Failed to call a function. Please adjust your prompt.",
      type: "invalid_request_error",
      code: "tool_use_failed",
      failed_generation: "<function=a>{n: 1}</function>",
    };
    const body = JSON.stringify({ error });
    server.answer({ status, pieces: [status === 200 ? `event: error\ndata: ${body}\n\n` : body] });
    const response = await model.generate(requestOf([said("a")]), { signal });
    expect(response).toMatchObject({
      content: [{ kind: "text", text: error.failed_generation }],
      stop: "malformed_call",
    });
  });

  test("the reason that OpenRouter hands on from its provider is shown, and decides", async () => {
    const raw = JSON.stringify({ error: { message: "prompt is too long: 9 tokens > 8 maximum" } });
    for (const [metadata, code, words] of [
      [{ raw, provider_name: "P" }, "MODEL_CONTEXT_TOO_LONG", "prompt is too long"],
      [{ raw: "no such tokenizer" }, "MODEL_REQUEST_INVALID", "no such tokenizer"],
      [{ raw: { message: "no such voice" } }, "MODEL_REQUEST_INVALID", "no such voice"],
      [{}, "MODEL_REQUEST_INVALID", "Provider returned error"],
    ] as const) {
      const error = { code: 400, message: "Provider returned error", metadata };
      server.answer({ status: 400, pieces: [JSON.stringify({ error })] });
      const failed = await failureOf(model.generate(requestOf([said("a")]), { signal }));
      expect(failed.code).toBe(code);
      expect(failed.message).toContain(words);
    }
  });

  test("fields that are null are absent ones", async () => {
    const empty = { content: null, refusal: null, reasoning: null, reasoning_details: null };
    const pieces = [
      { choices: null },
      { choices: [{ index: 0, delta: null }] },
      { choices: [{ index: 0, delta: { ...empty, tool_calls: null } }], usage: null },
      { choices: [{ index: 0, delta: { content: "ok" }, finish_reason: "stop" }] },
    ].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
    expect(await generate(pieces)).toMatchObject({ content: [{ kind: "text", text: "ok" }] });
  });

  test("arguments are sent back unchanged, unless a server that parses them would refuse them", async () => {
    const inputs = [
      ['{ "a" : 1 }', '{ "a" : 1 }'],
      ["", "{}"],
      ['{"a":', JSON.stringify({ INVALID_JSON: '{"a":' })],
    ];
    for (const [input = "", wanted] of inputs) {
      const { messages } = await sent([
        said("a"),
        {
          role: "assistant",
          content: [{ kind: "tool_use", id: "x", name: "a", input }],
          model: model.id,
        },
        { role: "tool", results: [{ id: "x", text: "", isError: false, files: [] }] },
      ]);
      expect(messages[2]).toMatchObject({ tool_calls: [{ function: { arguments: wanted } }] });
      expect(messages[3]).toMatchObject({ content: "(no output)" });
    }
  });

  test("pictures of tools follow all results, with the names of their calls", async () => {
    const results = ["x", "y"].map((id) => ({ id, text: "ok", isError: false, files: [PIXEL] }));
    const { messages } = await sent([
      said("a"),
      {
        role: "assistant",
        content: results.map(({ id }) => ({ kind: "tool_use", id, name: "a", input: "{}" })),
        model: model.id,
      },
      { role: "tool", results },
    ]);
    expect(messages.slice(3).map(({ role }) => role)).toEqual(["tool", "tool", "user"]);
    expect(messages[5]?.["content"]).toMatchObject([
      { type: "text", text: expect.stringContaining("call x") as string },
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
      { type: "text", text: expect.stringContaining("call y") as string },
      { type: "image_url" },
    ]);
  });

  test("a PDF is refused before anything is sent, and what to do is said", async () => {
    const pdf = { ...PIXEL, name: "a.pdf", mediaType: "application/pdf" } as const;
    const error = await failureOf(generate([], [{ role: "user", content: [pdf] }]));
    expect(error.code).toBe("MODEL_CONTENT_UNSUPPORTED");
    expect(error.message).toMatch(/a\.pdf.*images of its pages/);
    expect(server.seen).toHaveLength(0);
  });

  test("an error within a stream has the code that its status would have", async () => {
    for (const [status, code] of [
      [502, "MODEL_OVERLOADED"],
      [402, "MODEL_SPEND_CAP"],
    ] as const) {
      const piece = `data: ${JSON.stringify({ error: { code: status, message: "Gone." } })}\n\n`;
      expect((await failureOf(generate([piece]))).code).toBe(code);
    }
  });

  test("an error that is a mere text is read too", async () => {
    server.answer({ status: 404, pieces: [JSON.stringify({ error: "model 'x' not found" })] });
    const error = await failureOf(model.generate(requestOf([said("a")]), { signal }));
    expect(error.code).toBe("MODEL_UNKNOWN");
    expect(error.message).toContain("model 'x' not found");
  });
});

describe("how long a provider asks to be left alone", () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer();
  });
  afterAll(() => server.close());
  // A header's date has whole seconds.
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: 1_763_780_400_000 }));
  afterEach(() => void vi.useRealTimers());
  const inTen = () => Date.now() + 10_000;

  test.each<[string, () => Record<string, string>, number]>([
    ["seconds", () => ({ "retry-after": "10" }), 10_000],
    ["a date", () => ({ "retry-after": new Date(inTen()).toUTCString() }), 10_000],
    ["a date that is past", () => ({ "retry-after": new Date(0).toUTCString() }), 0],
    ["milliseconds", () => ({ "retry-after-ms": "10000", "retry-after": "99" }), 10_000],
    ["OpenAI's duration", () => ({ "x-ratelimit-reset-tokens": "10s" }), 10_000],
    [
      "the limit that is used up",
      () => ({
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "1m0s",
        "x-ratelimit-remaining-tokens": "50",
        "x-ratelimit-reset-tokens": "20ms",
      }),
      60_000,
    ],
    ["OpenRouter's moment", () => ({ "x-ratelimit-reset": String(inTen()) }), 10_000],
    ["a moment in seconds", () => ({ "x-ratelimit-reset": String(inTen() / 1000) }), 10_000],
    ["a year at most", () => ({ "retry-after": "99999999999" }), 365 * 86_400_000],
  ])("is read from %s", async (_form, headers, wanted) => {
    server.answer({ status: 429, headers: headers() });
    const model = compatible.create({ baseURL: server.url });
    const { signal } = new AbortController();
    const error = await failureOf(model.generate(requestOf([said("a")]), { signal }));
    expect(error.code).toBe("MODEL_RATE_LIMITED");
    expect(error.retryAfterMs).toBe(wanted);
  });

  test("is not guessed from a header that makes no sense", async () => {
    server.answer({ status: 429, headers: { "retry-after": "soon", "x-ratelimit-reset": "" } });
    const model = compatible.create({ baseURL: server.url });
    const { signal } = new AbortController();
    const error = await failureOf(model.generate(requestOf([said("a")]), { signal }));
    expect(error.code).toBe("MODEL_SPEND_CAP");
  });
});
