import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AssistantBlock } from "../../src/core/block.ts";
import type { FileBlock, Model, Turn } from "../../src/models/model.ts";
import { modelContract } from "../contracts/model.ts";
import { CALLS, failureOf, requestOf, said } from "./harness.ts";
import { type ModelServer, startModelServer } from "../fakes/model-server.ts";
import { anthropic } from "./dialects.ts";

modelContract(anthropic);

function sse(event: { type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** A stream of these blocks, each as it begins and its deltas. */
function streamOf(blocks: [object, ...object[]][], stop_reason: string): string[] {
  const usage = { input_tokens: 3, output_tokens: 1, cache_creation_input_tokens: 40 };
  return [
    sse({ type: "message_start", message: { usage } } as { type: string }),
    ...blocks.flatMap(([content_block, ...deltas], index) => [
      sse({ type: "content_block_start", index, content_block } as { type: string }),
      ...deltas.map((delta) =>
        sse({ type: "content_block_delta", index, delta } as { type: string }),
      ),
      sse({ type: "content_block_stop", index } as { type: string }),
    ]),
    sse({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 7 } } as {
      type: string;
    }),
    sse({ type: "message_stop" }),
  ];
}

describe("the Messages API", () => {
  let server: ModelServer;
  let model: Model;
  const { signal } = new AbortController();
  beforeAll(async () => {
    server = await startModelServer();
  });
  afterAll(() => server.close());
  beforeEach(() => {
    server.seen.length = 0;
    model = anthropic.create({ baseURL: server.url });
  });

  async function generate(pieces: string[], turns: Turn[] = [said("a")]) {
    server.answer({ pieces });
    return model.generate(requestOf(turns), { signal });
  }

  interface Body {
    system: { cache_control?: object }[];
    tools: { cache_control?: object }[];
    messages: { role: string; content: Record<string, unknown>[] }[];
  }

  async function sent(turns: Turn[]): Promise<Body> {
    await generate(anthropic.events({ text: ["ok"] }), turns);
    return JSON.parse(server.seen.at(-1)?.body ?? "") as Body;
  }

  function answered(content: AssistantBlock[]): Turn {
    return { role: "assistant", content, model: model.id };
  }

  test("every block that came is sent back as it came, but for what is not known how to rebuild", async () => {
    const thinking = { type: "thinking", thinking: "", signature: "" };
    const searched = { type: "web_search_tool_result", tool_use_id: "srv_1", content: [{ a: 1 }] };
    const { content, usage } = await generate(
      streamOf(
        [
          [
            thinking,
            { type: "thinking_delta", thinking: "Is it " },
            { type: "thinking_delta", thinking: "full?" },
            { type: "signature_delta", signature: "c2ln" },
          ],
          [{ type: "redacted_thinking", data: "b3BhcXVl" }],
          [
            { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} },
            { type: "input_json_delta", partial_json: '{"query":"x"}' },
          ],
          [searched],
          [
            { type: "hologram", frames: 1 },
            { type: "hologram_delta", frame: 2 },
          ],
          [
            { type: "text", text: "", citations: null },
            { type: "text_delta", text: "Looking." },
          ],
          [
            {
              type: "tool_use",
              id: "toolu_1",
              name: "read_log",
              input: {},
              caller: { type: "direct" },
            },
            { type: "input_json_delta", partial_json: '{"path" : "/a"}' },
          ],
          [{ type: "tool_use", id: "toolu_2", name: "read_log", input: {} }],
        ],
        "tool_use",
      ),
    );
    expect(usage).toEqual({ input: 3, output: 7, cacheRead: 0, cacheWrite: 40 });
    const results = ["toolu_1", "toolu_2"].map((id) => ({
      id,
      text: "",
      isError: true,
      files: [],
    }));
    const body = await sent([said("a"), answered(content), { role: "tool", results }]);
    expect(body.messages[1]?.content).toEqual([
      { type: "thinking", thinking: "Is it full?", signature: "c2ln" },
      { type: "redacted_thinking", data: "b3BhcXVl" },
      { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "x" } },
      searched,
      { type: "text", text: "Looking." },
      {
        type: "tool_use",
        id: "toolu_1",
        name: "read_log",
        input: { path: "/a" },
        caller: { type: "direct" },
      },
      { type: "tool_use", id: "toolu_2", name: "read_log", input: {} },
    ]);
    expect(body.messages[2]?.content).toMatchObject([
      { type: "tool_result", tool_use_id: "toolu_1", is_error: true },
      { type: "tool_result", tool_use_id: "toolu_2", is_error: true },
    ]);
  });

  test("results and what people said after them are one message, results first", async () => {
    const { content } = await generate(anthropic.events({ calls: CALLS }));
    const results = CALLS.map(({ id }) => ({ id, text: "ok", isError: false, files: [] }));
    const body = await sent([
      said("a"),
      answered(content),
      { role: "tool", results },
      said("b"),
      said(" "),
      said("c"),
    ]);
    expect(body.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    const kinds = body.messages[2]?.content.map(({ type }) => type);
    expect(kinds).toEqual(["tool_result", "tool_result", "text", "text"]);
  });

  test("four breakpoints at most: after the tools, the system prompt and the last two user messages", async () => {
    const turns: Turn[] = [said("0")];
    for (let step = 1; step < 5; step += 1) {
      const body = await sent(turns);
      const marked = (content: object[]) => content.map((block) => "cache_control" in block);
      expect(marked(body.tools)).toEqual([false, true]);
      expect(marked(body.system)).toEqual([true]);
      const users = body.messages.filter(({ role }) => role === "user");
      const places = users.map(({ content }) => marked(content).indexOf(true));
      const wanted = users.map((message, i) =>
        i >= users.length - 2 ? message.content.length - 1 : -1,
      );
      expect(places).toEqual(wanted);
      expect(JSON.stringify(body).split("cache_control").length - 1).toBe(step === 1 ? 3 : 4);
      const { content } = await generate(anthropic.events({ text: [`answer ${step}`] }));
      turns.push(answered(content), said(`${step}`));
    }
  });

  test("documents have their name as a title", async () => {
    const file = (name: string, mediaType: FileBlock["mediaType"], data: string): FileBlock => {
      return { kind: "file", name, mediaType, data };
    };
    const text = Buffer.from("# Rollback").toString("base64");
    const files = [
      file("runbook.pdf", "application/pdf", "JVBERi0="),
      file("runbook.md", "text/plain", text),
    ];
    const body = await sent([{ role: "user", content: files }]);
    expect(body.messages[0]?.content).toMatchObject([
      {
        type: "document",
        title: "runbook.pdf",
        source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
      },
      {
        type: "document",
        title: "runbook.md",
        source: { type: "text", media_type: "text/plain", data: "# Rollback" },
      },
    ]);
  });

  test("a context window that is full is an error when nothing came of it, else a cut response", async () => {
    const error = await failureOf(generate(streamOf([], "model_context_window_exceeded")));
    expect(error.code).toBe("MODEL_CONTEXT_TOO_LONG");
    const text = { type: "text", text: "So far" };
    const { stop } = await generate(streamOf([[text]], "model_context_window_exceeded"));
    expect(stop).toBe("max_tokens");
  });

  test.each([
    ["overloaded_error", "MODEL_OVERLOADED"],
    ["api_error", "MODEL_OVERLOADED"],
    ["rate_limit_error", "MODEL_RATE_LIMITED"],
    ["invalid_request_error", "MODEL_REQUEST_INVALID"],
    ["billing_error", "MODEL_SPEND_CAP"],
    ["authentication_error", "MODEL_AUTH"],
  ])("%s within a stream is %s", async (type, code) => {
    const [first = ""] = anthropic.events({ text: ["a"] });
    const event = `event: error\ndata: ${anthropic.error(type, "It went wrong.")}\n\n`;
    const error = await failureOf(generate([first, event]));
    expect(error.code).toBe(code);
    expect(error.message).toContain("It went wrong.");
  });

  test("an end without a reason for it is no end", async () => {
    const pieces = anthropic.events({ text: ["a"] }).filter((event) => !event.includes("_delta\n"));
    expect((await failureOf(generate(pieces))).code).toBe("MODEL_CUT");
  });

  test("thinking and effort are two things, and neither is sent unless it is wished", async () => {
    const asked = async (wishes: Partial<Parameters<typeof anthropic.create>[0]>) => {
      model = anthropic.create({ baseURL: server.url, ...wishes });
      const { thinking, output_config } = (await sent([said("a")])) as unknown as Record<
        string,
        unknown
      >;
      return [thinking, output_config];
    };
    expect(await asked({})).toEqual([undefined, undefined]);
    expect(await asked({ effort: "high" })).toEqual([undefined, { effort: "high" }]);
    expect(await asked({ thinking: "adaptive" })).toEqual([{ type: "adaptive" }, undefined]);
    expect(await asked({ thinking: 1_023, effort: "low" })).toEqual([
      { type: "enabled", budget_tokens: 1_023 },
      { effort: "low" },
    ]);
    // The request's response has room for 1024 tokens.
    expect(await asked({ thinking: 1_024 })).toEqual([undefined, undefined]);
  });

  test("a model that has to make a call does not think, but tries as hard", async () => {
    model = anthropic.create({ baseURL: server.url, thinking: "adaptive", effort: "high" });
    const events = anthropic.events({ calls: [{ id: "toolu_1", name: "plan", input: "{}" }] });
    const error = anthropic.error("invalid_request_error", "output_config.format: not supported");
    server.answer({ status: 400, pieces: [error] }, { pieces: events });
    const output = { name: "plan", schema: { type: "object" } };
    await model.generate(requestOf([said("a")], { output }), { signal });
    const [first, second] = server.seen.map(({ body }) => JSON.parse(body) as object);
    expect(first).toMatchObject({
      thinking: { type: "adaptive" },
      output_config: { effort: "high" },
    });
    expect(second).toMatchObject({ output_config: { effort: "high" } });
    expect(second).not.toHaveProperty("thinking");
  });

  test("arguments that no parser or provider could take do not spoil the thread", async () => {
    const inputs = [
      '"text"',
      "[1]",
      "null",
      '{"a":"\\ud83d"}',
      "[".repeat(200_000),
      `{"a":${"[".repeat(9000)}${"]".repeat(9000)}}`,
    ];
    for (const input of inputs) {
      const content: AssistantBlock[] = [{ kind: "tool_use", id: "toolu_1", name: "x", input }];
      const results = [{ id: "toolu_1", text: "wrong", isError: true, files: [] }];
      const body = await sent([said("a"), answered(content), { role: "tool", results }]);
      const [call] = body.messages[1]?.content ?? [];
      expect(typeof call?.["input"]).toBe("object");
      expect(JSON.stringify(body).isWellFormed()).toBe(true);
      expect(server.seen.at(-1)?.body).not.toMatch(/[^\\]\\ud83d/);
    }
  });
});
