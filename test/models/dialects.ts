import type { StopReason } from "../../src/core/block.ts";
import { anthropic as anthropicProvider } from "../../src/models/providers/anthropic.ts";
import type { Model } from "../../src/models/model.ts";
import { openAiCompatible } from "../../src/models/providers/openai-compatible.ts";
import { openai as openAiProvider } from "../../src/models/providers/openai.ts";

/** What a provider is to say, in no provider's words. */
export interface Answer {
  thought?: string;
  /** The pieces of the text, in the order in which they come. */
  text?: readonly string[];
  calls?: readonly { id: string; name: string; input: string }[];
  stop?: StopReason;
  usage?: { input: number; output: number; cacheRead: number };
}

interface Target {
  name?: string;
  apiKey?: string;
  baseURL: string;
  idleMs?: number;
  effort?: "low" | "medium" | "high";
  thinking?: "adaptive" | number;
  known?: { structuredOutput?: boolean; maxOutputTokens?: number };
}

/** How one wire's provider speaks. */
export interface Dialect {
  wire: string;
  create(target: Target): Model;
  /** The events of a stream, each ready to be sent. */
  events(answer: Answer): string[];
  /** An error's body. */
  error(type: string, message: string): string;
  /** How the wire says that the conversation is too long, and that a filter withheld it: status, type, message. */
  tooLong: readonly [number, string, string];
  filtered: readonly [number, string, string];
  /** Ends other than those of every wire that it has words for. */
  stops: readonly StopReason[];
  /** A request's turns as it has them, and all the rest of it. */
  parts(body: string): { turns: unknown[]; rest: unknown };
}

/** A key that must be in no message. */
export const KEY = "wk-test-4f9a1c77e2b04d51";

function sse(data: unknown, event?: string): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** Halves, as a stream brings long strings. */
function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

type Json = Record<string, unknown> & { type: string };

export const anthropic: Dialect = {
  wire: "anthropic",
  create: ({ name = "claude-test", apiKey = KEY, baseURL, ...target }) =>
    anthropicProvider.create({ name, contextWindow: 200_000, ...target }, { apiKey, baseURL }),
  error: (type, message) => JSON.stringify({ type: "error", error: { type, message } }),
  stops: ["max_tokens", "refusal", "pause"],
  tooLong: [400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"],
  filtered: [400, "invalid_request_error", "Output blocked by content filtering policy"],
  events({ thought, text = [], calls = [], stop, usage }) {
    const events: Json[] = [];
    let index = 0;
    function block(start: Json, deltas: Json[]): void {
      events.push({ type: "content_block_start", index, content_block: start });
      for (const delta of deltas) events.push({ type: "content_block_delta", index, delta });
      events.push({ type: "content_block_stop", index });
      index += 1;
    }
    events.push({
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        content: [],
        model: "claude-test",
        stop_reason: null,
        usage: {
          input_tokens: usage?.input ?? 0,
          cache_read_input_tokens: usage?.cacheRead ?? 0,
          cache_creation_input_tokens: 0,
          output_tokens: 1,
        },
      },
    });
    if (thought !== undefined) {
      block({ type: "thinking", thinking: "", signature: "" }, [
        ...halves(thought).map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: "c2lnbmVk" },
      ]);
    }
    if (text.length > 0) {
      const deltas = text.map((piece) => ({ type: "text_delta", text: piece }));
      block({ type: "text", text: "", citations: null }, deltas);
    }
    for (const { id, name, input } of calls) {
      const deltas = halves(input).map((partial_json) => ({
        type: "input_json_delta",
        partial_json,
      }));
      block({ type: "tool_use", id, name, input: {}, caller: { type: "direct" } }, deltas);
    }
    const reasons: Partial<Record<StopReason, string>> = { pause: "pause_turn" };
    const wanted = stop ?? (calls.length > 0 ? "tool_use" : "end_turn");
    events.push(
      {
        type: "message_delta",
        delta: { stop_reason: reasons[wanted] ?? wanted, stop_sequence: null },
        usage: { output_tokens: usage?.output ?? 0 },
      },
      { type: "message_stop" },
    );
    return events.map((event) => sse(event, event.type));
  },
  parts(body) {
    const { messages, ...rest } = JSON.parse(body) as { messages: unknown[] };
    return { turns: messages, rest };
  },
};

export const openai: Dialect = {
  wire: "openai",
  create: ({ name = "gpt-test", apiKey = KEY, baseURL, ...target }) =>
    openAiProvider.create(
      { name, contextWindow: 400_000, ...target },
      { apiKey, baseURL: `${baseURL}/v1` },
    ),
  error: (code, message) => JSON.stringify({ error: { code, type: code, message, param: null } }),
  stops: ["max_tokens", "refusal", "content_filter"],
  tooLong: [400, "context_length_exceeded", "Your input exceeds the context window of this model."],
  filtered: [400, "content_filter", "The response was filtered."],
  events({ thought, text = [], calls = [], stop = "end_turn", usage }) {
    const output: Json[] = [];
    const events: Json[] = [{ type: "response.created", response: { id: "resp_1", output: [] } }];
    if (thought !== undefined) {
      output.push({ id: "rs_1", type: "reasoning", summary: [], encrypted_content: thought });
    }
    const isRefusal = stop === "refusal";
    if (text.length > 0) {
      const item = { id: "msg_1", type: "message", role: "assistant", phase: "commentary" };
      events.push({ type: "response.output_item.added", output_index: output.length, item });
      for (const delta of text) {
        events.push({
          type: isRefusal ? "response.refusal.delta" : "response.output_text.delta",
          item_id: "msg_1",
          output_index: output.length,
          content_index: 0,
          delta,
        });
      }
      const whole = text.join("");
      const part = isRefusal
        ? { type: "refusal", refusal: whole }
        : { type: "output_text", text: whole, annotations: [], logprobs: [] };
      output.push({ ...item, status: "completed", content: [part] });
    }
    for (const [i, { id, name, input }] of calls.entries()) {
      for (const delta of halves(input)) {
        events.push({ type: "response.function_call_arguments.delta", item_id: `fc_${i}`, delta });
      }
      output.push({
        id: `fc_${i}`,
        type: "function_call",
        status: "completed",
        call_id: id,
        name,
        arguments: input,
      });
    }
    for (const [output_index, item] of output.entries()) {
      events.push({ type: "response.output_item.done", output_index, item });
    }
    const reasons: Partial<Record<StopReason, string>> = {
      max_tokens: "max_output_tokens",
      content_filter: "content_filter",
    };
    const status = stop in reasons ? "incomplete" : "completed";
    events.push({
      type: `response.${status}`,
      response: {
        id: "resp_1",
        status,
        error: null,
        incomplete_details: stop in reasons ? { reason: reasons[stop] } : null,
        output,
        usage: {
          input_tokens: (usage?.input ?? 0) + (usage?.cacheRead ?? 0),
          input_tokens_details: { cached_tokens: usage?.cacheRead ?? 0, cache_write_tokens: 0 },
          output_tokens: usage?.output ?? 0,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 0,
        },
      },
    });
    return events.map((event) => sse(event, event.type));
  },
  parts(body) {
    const { input, ...rest } = JSON.parse(body) as { input: unknown[] };
    return { turns: input, rest };
  },
};

export const compatible: Dialect = {
  wire: "openai-compatible",
  create: ({ name = "vendor/model-test", apiKey = KEY, baseURL, ...target }) =>
    openAiCompatible.create(
      { name, contextWindow: 128_000, ...target },
      { apiKey, baseURL: `${baseURL}/v1` },
    ),
  error: (code, message) => JSON.stringify({ error: { code, type: code, message } }),
  stops: ["max_tokens", "refusal", "content_filter"],
  tooLong: [
    400,
    "BadRequestError",
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
  ],
  filtered: [400, "content_filter", "The response was filtered."],
  events({ thought, text = [], calls = [], stop = "end_turn", usage }) {
    const deltas: Record<string, unknown>[] = [{ role: "assistant", content: "" }];
    for (const piece of halves(thought ?? "")) {
      if (piece !== "") deltas.push({ reasoning_content: piece });
    }
    const key = stop === "refusal" ? "refusal" : "content";
    for (const piece of text) deltas.push({ [key]: piece });
    const begun = calls.map(({ id, name }, index) => ({
      index,
      id,
      type: "function",
      function: { name, arguments: "" },
    }));
    if (begun.length > 0) deltas.push({ tool_calls: begun });
    for (const half of [0, 1]) {
      for (const [index, { input }] of calls.entries()) {
        deltas.push({ tool_calls: [{ index, function: { arguments: halves(input)[half] } }] });
      }
    }
    const reasons: Partial<Record<StopReason, string>> = {
      max_tokens: "length",
      content_filter: "content_filter",
    };
    const finish = reasons[stop] ?? (calls.length > 0 ? "tool_calls" : "stop");
    const frame = { id: "chatcmpl_1", object: "chat.completion.chunk", model: "model-test" };
    return [
      ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
      { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
      {
        choices: [],
        usage: {
          prompt_tokens: (usage?.input ?? 0) + (usage?.cacheRead ?? 0),
          completion_tokens: usage?.output ?? 0,
          prompt_tokens_details: { cached_tokens: usage?.cacheRead ?? 0 },
        },
      },
    ]
      .map((chunk) => sse({ ...frame, ...chunk }))
      .concat("data: [DONE]\n\n");
  },
  parts(body) {
    const { messages, ...rest } = JSON.parse(body) as { messages: { role: string }[] };
    const turns = messages.filter(({ role }) => role !== "system");
    return { turns, rest: { ...rest, system: messages.filter(({ role }) => role === "system") } };
  },
};
