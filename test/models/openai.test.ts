import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Model, Turn } from "../../src/models/model.ts";
import { modelContract } from "../contracts/model.ts";
import { CALLS, failureOf, PIXEL, requestOf, said } from "./harness.ts";
import { type ModelServer, startModelServer } from "../fakes/model-server.ts";
import { openai } from "./dialects.ts";

modelContract(openai);

function sse(event: { type: string } & Record<string, unknown>): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

describe("the Responses API", () => {
  let server: ModelServer;
  let model: Model;
  const { signal } = new AbortController();
  beforeAll(async () => {
    server = await startModelServer();
  });
  afterAll(() => server.close());
  beforeEach(() => {
    server.seen.length = 0;
    model = openai.create({ baseURL: server.url });
  });

  async function generate(pieces: string[], turns: Turn[] = [said("a")]) {
    server.answer({ pieces });
    return model.generate(requestOf(turns), { signal });
  }

  async function sent(turns: Turn[]) {
    await generate(openai.events({ text: ["ok"] }), turns);
    return JSON.parse(server.seen.at(-1)?.body ?? "") as { input: Record<string, unknown>[] };
  }

  function completed(output: object[]): string {
    return sse({ type: "response.completed", response: { status: "completed", output } });
  }

  test("which of the listed tools may be called now is told beside them", async () => {
    server.answer({ pieces: openai.events({ text: ["ok"] }) });
    await model.generate({ ...requestOf([said("a")]), allowed: ["read_log"] }, { signal });
    expect(JSON.parse(server.seen.at(-1)?.body ?? "")).toMatchObject({
      tool_choice: {
        type: "allowed_tools",
        mode: "auto",
        tools: [{ type: "function", name: "read_log" }],
      },
    });
  });

  test("nothing is stored at the provider, and reasoning is asked for in a form to send back", async () => {
    expect(await sent([said("a")])).toMatchObject({
      store: false,
      include: ["reasoning.encrypted_content"],
      stream: true,
      max_output_tokens: 1024,
      instructions: "You are on call.",
    });
    model = openai.create({ baseURL: server.url, effort: "low" });
    expect(await sent([said("a")])).toMatchObject({
      reasoning: { effort: "low" },
    });
  });

  test("every item that came is sent back as it came, but for what has no content of its own", async () => {
    const output = [
      { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "gAAA==" },
      { id: "rs_2", type: "reasoning", summary: [], encrypted_content: null },
      { id: "ws_1", type: "web_search_call", status: "completed" },
      {
        id: "msg_1",
        type: "message",
        role: "assistant",
        status: "completed",
        phase: "commentary",
        content: [{ type: "output_text", text: "Looking.", annotations: [] }],
      },
      {
        id: "fc_1",
        type: "function_call",
        status: "completed",
        call_id: "call_1",
        name: "read_log",
        arguments: '{ "path" :"/a", "path":"/b" }',
      },
    ];
    const { content, stop } = await generate([completed(output)]);
    expect(stop).toBe("tool_use");
    const results = [{ id: "call_1", text: "gone", isError: true, files: [PIXEL] }];
    const { input } = await sent([
      said("a"),
      { role: "assistant", content, model: model.id },
      { role: "tool", results },
    ]);
    expect(input.slice(1, 4)).toEqual([output[0], output[3], output[4]]);
    expect(input[4]).toEqual({
      type: "function_call_output",
      call_id: "call_1",
      output: [
        { type: "input_text", text: "Error: gone" },
        { type: "input_image", detail: "auto", image_url: "data:image/png;base64,iVBORw0KGgo=" },
      ],
    });
  });

  test("a PDF is sent as a file", async () => {
    const file = { kind: "file", name: "a.pdf", mediaType: "application/pdf", data: "JVBERi0=" };
    const { input } = await sent([{ role: "user", content: [file as typeof PIXEL] }]);
    expect(input[0]?.["content"]).toEqual([
      {
        type: "input_file",
        filename: "a.pdf",
        file_data: "data:application/pdf;base64,JVBERi0=",
      },
    ]);
  });

  test("a filter that left nothing is an error", async () => {
    const pieces = openai.events({ stop: "content_filter" });
    expect((await failureOf(generate(pieces))).code).toBe("MODEL_FILTERED");
  });

  test.each([
    ["server_error", "MODEL_OVERLOADED"],
    ["rate_limit_exceeded", "MODEL_RATE_LIMITED"],
    ["invalid_image", "MODEL_REQUEST_INVALID"],
    ["context_length_exceeded", "MODEL_CONTEXT_TOO_LONG"],
    ["insufficient_quota", "MODEL_SPEND_CAP"],
    ["bio_policy", "MODEL_FILTERED"],
  ])("%s within a stream is %s, whichever way it comes", async (kind, code) => {
    const error = { code: kind, message: "It went wrong." };
    for (const piece of [
      sse({ type: "response.failed", response: { status: "failed", error, output: [] } }),
      sse({ type: "error", ...error }),
      `data: ${JSON.stringify({ error })}\n\n`,
    ]) {
      const failure = await failureOf(
        generate([...openai.events({ text: ["a"] }).slice(0, 2), piece]),
      );
      expect(failure.code).toBe(code);
      expect(failure.message).toContain("It went wrong.");
    }
  });

  test("calls keep their provider's ids for the results", async () => {
    const { content } = await generate(openai.events({ calls: CALLS }));
    const results = CALLS.map(({ id }) => ({ id, text: "", isError: false, files: [] }));
    const { input } = await sent([
      said("a"),
      { role: "assistant", content, model: model.id },
      { role: "tool", results },
    ]);
    expect(input.slice(3)).toEqual(
      CALLS.map(({ id }) => ({
        type: "function_call_output",
        call_id: id,
        output: "(no output)",
      })),
    );
  });
});
