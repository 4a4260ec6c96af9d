import type Anthropic from "@anthropic-ai/sdk";
import * as z from "zod";
import type { AssistantBlock, StopReason } from "../../core/block.ts";
import { type Caller, failure } from "../errors.ts";
import {
  type FileBlock,
  type Model,
  ModelError,
  type ModelRequest,
  type ModelResponse,
  type TextBlock,
  type ToolResultBlock,
  type Turn,
} from "../model.ts";
import { FORCED, type Forcing } from "../output-forms.ts";
import { createStreamingModel, type ModelOptions, type Streaming } from "../provider.ts";
import { isRecord } from "../../core/json.ts";
import { argumentsOf, isBlank, plainText, tokens, turnsFor } from "../turns.ts";

interface Message {
  role: "user" | "assistant";
  content: Anthropic.ContentBlockParam[];
}
type Wishes = Pick<Anthropic.MessageCreateParams, "thinking" | "output_config">;
type Event = Anthropic.RawMessageStreamEvent;

const CACHED = { cache_control: { type: "ephemeral" } } as const;

interface Access extends Pick<
  Streaming<MessagesClient>,
  "apiKey" | "variables" | "throttles" | "maxFileBytes"
> {
  id: string;
  connect: Streaming<MessagesClient>["connect"];
}

/** Anthropic's own client and those of Bedrock and Vertex. */
interface MessagesClient {
  messages: Pick<Anthropic.Messages, "create">;
}

/** A model behind Anthropic's Messages API, wherever that is served. */
export function createMessagesModel(options: ModelOptions, { id, ...access }: Access): Model {
  return createStreamingModel<MessagesClient>(id, options, {
    ...access,
    // Models before 4.5 know no format; of the newest, some may not be made to call a tool.
    forcings: ["format", "tool"],
    async ask(client, request, caller, onDelta, forcing) {
      const { signal } = caller;
      const wishes = wishesOf(options, request, forcing);
      const body = {
        ...bodyOf(id, request),
        model: options.name,
        ...wishes,
        ...(await outputOf(request, wishes, forcing)),
        stream: true as const,
      };
      const reader = createReader(onDelta);
      for await (const event of await client.messages.create(body, { signal })) {
        if (event.type === "message_stop") return reader.finish(caller);
        reader.take(event);
      }
      throw failure("MODEL_CUT", "no message_stop", caller);
    },
  });
}

/**
 * Of the four breakpoints that a request may have, two are fixed: after the tools and after the system prompt. Two move
 * along with the conversation, to the last two user messages: what the request before wrote is then found even when one
 * step added more than the 20 blocks that the provider looks back from a breakpoint.
 */
function bodyOf(id: string, { system, tools, turns, toolChoice, maxOutputTokens }: ModelRequest) {
  return {
    max_tokens: maxOutputTokens,
    ...(isBlank(system) ? {} : { system: [{ type: "text" as const, text: system, ...CACHED }] }),
    ...(tools.length === 0 ? {} : { tools: listed(tools) }),
    ...(tools.length > 0 && toolChoice === "none" ? { tool_choice: { type: toolChoice } } : {}),
    messages: withBreakpoints(messagesOf(turnsFor(id, turns))),
  };
}

function listed(tools: ModelRequest["tools"]) {
  return tools.map(({ name, description, schema }, i) => ({
    name,
    description,
    input_schema: { ...schema, type: "object" as const },
    ...(i === tools.length - 1 ? CACHED : {}),
  }));
}

function wishesOf(
  { effort, thinking: wish }: ModelOptions,
  { maxOutputTokens }: ModelRequest,
  forcing: Forcing | undefined,
): Wishes {
  const thinking = typeof wish === "number" ? fixed(wish, maxOutputTokens) : wish && ADAPTIVE;
  return {
    // A model that thinks may not be made to call a tool.
    ...(thinking !== undefined && forcing !== "tool" && { thinking }),
    ...(effort && { output_config: { effort } }),
  };
}

const ADAPTIVE = { type: "adaptive" } as const;

/** Thoughts are part of the response: a request with too little room for both has none. */
function fixed(budget_tokens: number, maxOutputTokens: number) {
  const hasRoom = budget_tokens < maxOutputTokens;
  return hasRoom ? { type: "enabled" as const, budget_tokens } : undefined;
}

async function outputOf(
  { tools, output }: ModelRequest,
  { output_config }: Wishes,
  forcing: Forcing | undefined,
): Promise<Pick<Anthropic.MessageCreateParams, "tools" | "tool_choice" | "output_config">> {
  if (output === undefined) return {};
  const { name, schema } = output;
  if (forcing === "format") {
    const { transformJSONSchema } = await import("@anthropic-ai/sdk/lib/transform-json-schema");
    const format = { type: "json_schema" as const, schema: transformJSONSchema(schema) };
    return { output_config: { ...output_config, format } };
  }
  const forced = {
    name,
    description: FORCED,
    input_schema: { ...schema, type: "object" as const },
  };
  return {
    tools: [...listed(tools), forced],
    tool_choice: { type: "tool", name, disable_parallel_tool_use: true },
  };
}

function withBreakpoints(messages: Message[]): Message[] {
  const last = messages.flatMap(({ role }, i) => (role === "user" ? [i] : [])).slice(-2);
  return messages.map((message, i) => {
    const block = last.includes(i) ? message.content.at(-1) : undefined;
    if (block === undefined) return message;
    return { ...message, content: [...message.content.slice(0, -1), { ...block, ...CACHED }] };
  });
}

/** Turns of the same side in a row become one message: results of calls and what people said after them. */
function messagesOf(turns: readonly Turn[]): Message[] {
  const messages: Message[] = [];
  for (const turn of turns) {
    const role = turn.role === "assistant" ? "assistant" : "user";
    const content = contentOf(turn);
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) messages.push({ role, content });
  }
  return messages;
}

function contentOf(turn: Turn): Anthropic.ContentBlockParam[] {
  if (turn.role === "assistant") return turn.content.flatMap(assistantParam);
  return turn.role === "tool" ? turn.results.map(resultParam) : turn.content.flatMap(userParam);
}

function assistantParam(block: AssistantBlock): Anthropic.ContentBlockParam[] {
  if (block.kind === "thinking") return isContentBlock(block.wire) ? [block.wire] : [];
  const rest = isRecord(block.wire) ? block.wire : {};
  if (block.kind === "text") return [{ ...rest, type: "text", text: block.text }];
  const { id, name, input } = block;
  return [{ ...rest, type: "tool_use", id, name, input: argumentsOf(input) }];
}

/** Of this very model's own responses, unchanged. */
function isContentBlock(wire: unknown): wire is Anthropic.ContentBlockParam {
  return isRecord(wire) && typeof wire["type"] === "string";
}

function userParam(block: TextBlock | FileBlock): Anthropic.ContentBlockParam[] {
  if (block.kind === "text") return [{ type: "text", text: block.text }];
  const { mediaType, data, name: title } = block;
  if (mediaType === "application/pdf") {
    return [{ type: "document", source: { type: "base64", media_type: mediaType, data }, title }];
  }
  if (mediaType === "text/plain") {
    const source = { type: "text", media_type: mediaType, data: plainText(block) } as const;
    return isBlank(source.data) ? [] : [{ type: "document", source, title }];
  }
  return [imageParam(block)];
}

function imageParam({ mediaType, data, name }: FileBlock): Anthropic.ImageBlockParam {
  if (mediaType === "application/pdf" || mediaType === "text/plain") {
    throw new ModelError(
      "MODEL_CONTENT_UNSUPPORTED",
      `${JSON.stringify(name)} (${mediaType}) cannot be part of a tool's result: only images can.`,
    );
  }
  return { type: "image", source: { type: "base64", media_type: mediaType, data } };
}

function resultParam(result: ToolResultBlock): Anthropic.ToolResultBlockParam {
  const { id, text, isError, files } = result;
  return {
    type: "tool_result",
    tool_use_id: id,
    content: [
      ...(isBlank(text) ? [] : [{ type: "text" as const, text }]),
      ...files.map(imageParam),
    ],
    // With an image beside it the provider refuses the mark; the text says how the call ended.
    ...(isError && files.length === 0 ? { is_error: true } : {}),
  };
}

/** A content block on its way: as it began, with its deltas added. */
interface Building {
  block: Record<string, unknown> & { type: string };
  json: string;
  /** False when a kind of delta came that is not known here: such a block cannot be sent back as it was. */
  isWhole: boolean;
}

function grow(block: Building["block"], key: string, piece: string): void {
  const before = block[key];
  block[key] = typeof before === "string" ? before + piece : piece;
}

function createReader(onDelta: ((text: string) => void) | undefined) {
  const blocks = new Map<number, Building>();
  const counts: Record<string, unknown> = {};
  let stop: string | null = null;

  function add(delta: Anthropic.RawContentBlockDelta, building: Building): void {
    const { block } = building;
    switch (delta.type) {
      case "text_delta":
        grow(block, "text", delta.text);
        onDelta?.(delta.text);
        break;
      case "input_json_delta":
        building.json += delta.partial_json;
        break;
      case "thinking_delta":
        grow(block, "thinking", delta.thinking);
        break;
      case "signature_delta":
        block["signature"] = delta.signature;
        break;
      // Citations are not asked for; what is not known here is not in the SDK's types either.
      case "citations_delta":
      default:
        building.isWhole = false;
    }
  }

  function take(event: Event): void {
    if (event.type === "message_start" || event.type === "message_delta") {
      const { usage } = event.type === "message_start" ? event.message : event;
      for (const [key, count] of Object.entries(usage ?? {}))
        if (count !== null) counts[key] = count;
      if (event.type === "message_delta") stop = event.delta.stop_reason ?? stop;
    } else if (event.type === "content_block_start") {
      blocks.set(event.index, { block: { ...event.content_block }, json: "", isWhole: true });
    } else if (event.type === "content_block_delta") {
      const building = blocks.get(event.index);
      if (building === undefined) throw new SyntaxError(`a delta of no block: ${event.index}`);
      add(event.delta, building);
    }
  }

  function finish(caller: Caller): ModelResponse {
    if (stop === null) throw failure("MODEL_CUT", "no stop_reason", caller);
    const content = [...blocks.values()].flatMap(blockOf);
    if (
      stop === "model_context_window_exceeded" &&
      !content.some(({ kind }) => kind !== "thinking")
    )
      throw failure("MODEL_CONTEXT_TOO_LONG", stop, caller);
    return {
      content,
      stop: STOPS[stop] ?? "max_tokens",
      usage: {
        input: tokens(counts["input_tokens"]),
        output: tokens(counts["output_tokens"]),
        cacheRead: tokens(counts["cache_read_input_tokens"]),
        cacheWrite: tokens(counts["cache_creation_input_tokens"]),
      },
    };
  }

  return { take, finish };
}

/** Any other reason: `max_tokens`, as what came may not be all. */
const STOPS: Readonly<Record<string, StopReason>> = {
  end_turn: "end_turn",
  stop_sequence: "end_turn",
  tool_use: "tool_use",
  refusal: "refusal",
  pause_turn: "pause",
};

function blockOf({ block, json, isWhole }: Building): AssistantBlock[] {
  const { type, ...rest } = block;
  if (type === "text") {
    const { text, ...others } = rest;
    return text === "" ? [] : [{ kind: "text", text: String(text), ...wireOf(others) }];
  }
  if (type === "tool_use") {
    const { id, name, input, ...others } = rest;
    const written = json === "" ? JSON.stringify(input ?? {}) : json;
    return [
      { kind: "tool_use", id: String(id), name: String(name), input: written, ...wireOf(others) },
    ];
  }
  if (!isWhole) return [];
  const wire = z.json().parse(json === "" ? block : { ...block, input: argumentsOf(json) });
  return [{ kind: "thinking", wire }];
}

/** What a block had besides what is known of it here, to be sent back with it. */
function wireOf(others: Record<string, unknown>) {
  const told = Object.entries(others).filter(([, value]) => value !== null);
  return told.length === 0 ? {} : { wire: z.json().parse(Object.fromEntries(told)) };
}
