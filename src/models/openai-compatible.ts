import OpenAI from "openai";
import * as z from "zod";
import type { AssistantBlock, StopReason } from "../core/block.ts";
import { exchange, type Fetch, watchedFetch } from "./exchange.ts";
import { type Caller, failure } from "./failures.ts";
import {
  type FileBlock,
  type Model,
  ModelError,
  type ModelRequest,
  type ModelResponse,
  type TextBlock,
  type ToolResultBlock,
  type Turn,
} from "./model.ts";
import {
  argumentsOf,
  dataUrl,
  fileText,
  isBlank,
  isRecord,
  resultText,
  tokens,
  turnsFor,
} from "./turns.ts";

type Message = OpenAI.Chat.ChatCompletionMessageParam;
type Part = OpenAI.Chat.ChatCompletionContentPartText | OpenAI.Chat.ChatCompletionContentPartImage;

/** Where servers put reasoning, which some of them want back under the same name (DeepSeek, Moonshot, vLLM). */
const REASONING = ["reasoning_content", "reasoning"] as const;

export interface CompatibleOptions {
  /** As the server names it; may contain slashes. */
  name: string;
  /** Left out for servers that want none. */
  apiKey?: string | undefined;
  /** Mostly with `/v1`. */
  baseURL: string;
  contextWindow: number;
  /** Sent as `reasoning_effort`; most servers leave it alone when they do not know it. */
  effort?: "low" | "medium" | "high" | undefined;
  fetch?: Fetch | undefined;
  idleMs?: number | undefined;
}

/** A model behind OpenAI's Chat Completions API as others speak it: vLLM, Ollama, llama.cpp, OpenRouter, Groq … */
export function createCompatibleModel(options: CompatibleOptions): Model {
  const { name, apiKey = "", baseURL, contextWindow, effort } = options;
  const id = `openai-compatible/${name}`;
  const client = new OpenAI({
    // The SDK wants one.
    apiKey: apiKey === "" ? "none" : apiKey,
    baseURL,
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    logLevel: "off",
    fetch: watchedFetch(id, options.fetch, options.idleMs),
  });
  return {
    id,
    contextWindow,
    async generate(request, { signal, onDelta }) {
      const caller = { id, apiKey, signal };
      const body = {
        ...bodyOf(id, request),
        model: name,
        ...(effort === undefined ? {} : { reasoning_effort: effort }),
        stream_options: { include_usage: true },
      };
      return exchange(caller, async () => {
        const stream = await client.chat.completions.create({ ...body, stream: true }, { signal });
        const reader = createReader(onDelta);
        for await (const chunk of stream) reader.take(chunk);
        return reader.finish(caller);
      });
    },
  };
}

function bodyOf(id: string, { system, tools, turns, toolChoice, maxOutputTokens }: ModelRequest) {
  const listed = tools.map(({ name, description, schema }) => ({
    type: "function" as const,
    function: { name, description, parameters: schema },
  }));
  const prompt: Message[] = isBlank(system) ? [] : [{ role: "system", content: system }];
  return {
    max_tokens: maxOutputTokens,
    ...(tools.length === 0 ? {} : { tools: listed, tool_choice: toolChoice }),
    messages: [...prompt, ...turnsFor(id, turns).flatMap(messagesOf)],
  };
}

function messagesOf(turn: Turn): Message[] {
  switch (turn.role) {
    case "assistant":
      return assistantMessage(turn.content);
    case "tool":
      return [
        ...turn.results.map((result): Message => {
          return { role: "tool", tool_call_id: result.id, content: resultText(result) };
        }),
        ...imagesOf(turn.results),
      ];
    case "user": {
      const parts = turn.content.map(userPart);
      if (parts.length === 0) return [];
      // Plain text where it is enough: not every server takes a list.
      const [first] = parts;
      const isPlain = parts.length === 1 && first?.type === "text";
      return [{ role: "user", content: isPlain ? first.text : parts }];
    }
  }
}

function assistantMessage(content: readonly AssistantBlock[]): Message[] {
  const text = content.map((block) => (block.kind === "text" ? block.text : "")).join("");
  const calls = content.flatMap((block) => (block.kind === "tool_use" ? [callParam(block)] : []));
  if (text === "" && calls.length === 0) return [];
  const thoughts = content.flatMap((block) =>
    block.kind === "thinking" && isRecord(block.wire) ? [block.wire] : [],
  );
  return [
    {
      ...Object.fromEntries(thoughts.flatMap((thought) => Object.entries(thought))),
      role: "assistant",
      content: text === "" ? null : text,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ];
}

/** Servers that parse the arguments refuse the whole request when they are malformed; others get them unchanged. */
function callParam({ id, name, input, wire }: AssistantBlock & { kind: "tool_use" }) {
  const parsed = argumentsOf(input);
  const isObject = !isBlank(input) && !("INVALID_JSON" in parsed);
  return {
    ...(isRecord(wire) ? wire : {}),
    id,
    type: "function" as const,
    function: { name, arguments: isObject ? input : JSON.stringify(parsed) },
  };
}

function userPart(block: TextBlock | FileBlock): Part {
  if (block.kind === "text") return { type: "text", text: block.text };
  if (block.mediaType === "text/plain") return { type: "text", text: fileText(block) };
  if (block.mediaType === "application/pdf") {
    throw new ModelError(
      "MODEL_CONTENT_UNSUPPORTED",
      `${JSON.stringify(block.name)} is a PDF, and the Chat Completions interface has no documents. Send its text or images of its pages, or use an anthropic/ or openai/ model.`,
    );
  }
  return { type: "image_url", image_url: { url: dataUrl(block) } };
}

/** Messages of tools hold text only, so their images follow in a message of the user's side. */
function imagesOf(results: readonly ToolResultBlock[]): Message[] {
  const content = results.flatMap(({ id, files }) =>
    files.flatMap((file): Part[] => [
      { type: "text", text: `${JSON.stringify(file.name)}, of the result of call ${id}:` },
      userPart(file),
    ]),
  );
  return content.length === 0 ? [] : [{ role: "user", content }];
}

/** A call on its way. `place` is the server's index of it. */
interface BuildingCall {
  place: number;
  id: string;
  name: string;
  input: string;
  extras: Record<string, unknown>;
}

function createReader(onDelta: ((text: string) => void) | undefined) {
  const calls: BuildingCall[] = [];
  const thoughts: Record<string, string> = {};
  let text = "";
  let reason: string | undefined;
  let isRefusal = false;
  let usage: OpenAI.CompletionUsage | null | undefined;

  function take(chunk: OpenAI.Chat.ChatCompletionChunk): void {
    usage = chunk.usage ?? usage;
    const choice = chunk.choices?.[0];
    if (choice === undefined) return;
    reason = choice.finish_reason ?? reason;
    const delta = choice.delta ?? {};
    const said = (delta.content ?? "") + (delta.refusal ?? "");
    if (delta.refusal) isRefusal = true;
    if (said !== "") {
      text += said;
      onDelta?.(said);
    }
    for (const [key, value] of Object.entries(delta)) {
      if (REASONING.some((name) => name === key) && typeof value === "string" && value !== "") {
        thoughts[key] = (thoughts[key] ?? "") + value;
      }
    }
    for (const piece of delta.tool_calls ?? []) add(piece);
  }

  /** By its index; servers that send none send each call whole, or its pieces after an id of their own. */
  function add(piece: OpenAI.Chat.ChatCompletionChunk.Choice.Delta.ToolCall): void {
    const { index, id, function: written, type: _type, custom: _custom, ...extras } = piece;
    // Ollama gives each of several calls the index 0, others none: then a new id is a new call.
    const last = calls.findLast(({ place }) => index === undefined || place === index);
    const isOther = last !== undefined && Boolean(id) && last.id !== "" && id !== last.id;
    let call = isOther ? undefined : last;
    const place = index ?? calls.length;
    if (call === undefined) {
      call = { place, id: "", name: "", input: "", extras: {} };
      calls.push(call);
    }
    call.id ||= id ?? "";
    call.name ||= written?.name ?? "";
    call.input += written?.arguments ?? "";
    Object.assign(call.extras, extras);
  }

  function finish(caller: Caller): ModelResponse {
    if (reason === undefined) throw failure("MODEL_CUT", "no finish_reason", caller);
    if (reason === "content_filter" && text === "" && calls.length === 0) {
      throw failure("MODEL_FILTERED", reason, caller);
    }
    const cacheRead = tokens(usage?.prompt_tokens_details?.cached_tokens);
    return {
      content: contentOf(thoughts, text, calls),
      stop: stopOf(reason, isRefusal, calls.length > 0),
      usage: {
        input: tokens(tokens(usage?.prompt_tokens) - cacheRead),
        output: tokens(usage?.completion_tokens),
        cacheRead,
        cacheWrite: 0,
      },
    };
  }

  return { take, finish };
}

function stopOf(reason: string, isRefusal: boolean, hasCalls: boolean): StopReason {
  switch (reason) {
    case "stop":
    case "tool_calls":
    case "function_call":
      if (hasCalls) return "tool_use";
      return isRefusal ? "refusal" : "end_turn";
    case "content_filter":
      return "content_filter";
    default:
      // `length`, and the careful reading of a reason that is not known here.
      return "max_tokens";
  }
}

function contentOf(
  thoughts: Record<string, string>,
  text: string,
  calls: readonly BuildingCall[],
): AssistantBlock[] {
  const content: AssistantBlock[] = [];
  if (Object.keys(thoughts).length > 0) content.push({ kind: "thinking", wire: thoughts });
  if (text !== "") content.push({ kind: "text", text });
  const ids = new Set<string>();
  for (const { id: given, name, input, extras } of calls) {
    const base = given === "" ? `call_${ids.size}` : given;
    let id = base;
    for (let n = 2; ids.has(id); n += 1) id = `${base}_${n}`;
    ids.add(id);
    const wire = Object.keys(extras).length === 0 ? {} : { wire: z.json().parse(extras) };
    content.push({ kind: "tool_use", id, name, input, ...wire });
  }
  return content;
}
