import type OpenAI from "openai";
import * as z from "zod";
import type { AssistantBlock, StopReason } from "../../core/block.ts";
import { type Caller, failure, failureInStream } from "../errors.ts";
import type { ToolSpec } from "../../core/tool-spec.ts";
import {
  type FileBlock,
  type Model,
  type ModelRequest,
  type ModelResponse,
  type TextBlock,
  type ToolResultBlock,
  type Turn,
} from "../model.ts";
import { FORCED, type Forcing } from "../output-forms.ts";
import { createStreamingModel, type ModelOptions, type Streaming } from "../provider.ts";
import { isRecord } from "../../core/json.ts";
import { dataUrl, fileText, isBlank, resultText, tokens, turnsFor } from "../turns.ts";
import { strictly } from "./openai-access.ts";

type Item = OpenAI.Responses.ResponseInputItem;
type Part =
  | OpenAI.Responses.ResponseInputText
  | OpenAI.Responses.ResponseInputImage
  | OpenAI.Responses.ResponseInputFile;

interface Access extends Pick<Streaming<OpenAI>, "apiKey" | "variables" | "connect"> {
  id: string;
}

/** A model behind OpenAI's Responses API. Nothing is stored there: what it reasoned travels in `wire`, encrypted. */
export function createResponsesModel(options: ModelOptions, { id, ...access }: Access): Model {
  const { name, effort } = options;
  return createStreamingModel<OpenAI>(id, options, {
    ...access,
    // Models before GPT-4o know no schema.
    forcings: ["format", "tool"],
    async ask(client, request, caller, onDelta, forcing) {
      const { signal } = caller;
      const body = {
        ...bodyOf(id, request),
        ...(await outputOf(request, forcing)),
        model: name,
        store: false,
        include: ["reasoning.encrypted_content" as const],
        ...(effort === undefined ? {} : { reasoning: { effort } }),
        // Padding against an observer of lengths, which would be most of a stream's bytes.
        stream_options: { include_obfuscation: false },
        stream: true as const,
      };
      for await (const event of await client.responses.create(body, { signal })) {
        if (event.type === "response.output_text.delta") onDelta?.(event.delta);
        else if (event.type === "response.refusal.delta") onDelta?.(event.delta);
        else if (event.type === "response.completed" || event.type === "response.incomplete") {
          return responseOf(event.response, caller);
        } else if (event.type === "response.failed") {
          throw failureInStream(event.response.error, caller);
        } else if (event.type === "error") throw failureInStream(event, caller);
      }
      throw failure("MODEL_CUT", "no response.completed", caller);
    },
  });
}

function bodyOf(id: string, request: ModelRequest) {
  const { system, tools, turns, maxOutputTokens } = request;
  return {
    max_output_tokens: maxOutputTokens,
    ...(isBlank(system) ? {} : { instructions: system }),
    ...(tools.length === 0 ? {} : { tools: tools.map(listed), tool_choice: choiceOf(request) }),
    input: turnsFor(id, turns).flatMap(itemsOf),
  };
}

function choiceOf({ toolChoice, allowed = [] }: ModelRequest) {
  if (toolChoice === "none" || allowed.length === 0) return toolChoice;
  const tools = allowed.map((name) => ({ type: "function", name }));
  return { type: "allowed_tools" as const, mode: "auto" as const, tools };
}

function listed({ name, description, schema }: ToolSpec) {
  return { type: "function" as const, name, description, parameters: schema, strict: false };
}

async function outputOf(
  { tools, output }: ModelRequest,
  forcing: Forcing | undefined,
): Promise<Partial<OpenAI.Responses.ResponseCreateParams>> {
  if (output === undefined) return {};
  const { name, schema } = output;
  if (forcing === "format")
    return { text: { format: { type: "json_schema", name, ...(await strictly(schema)) } } };
  return {
    tools: [...tools, { name, description: FORCED, schema }].map(listed),
    tool_choice: { type: "function", name },
    parallel_tool_calls: false,
  };
}

function itemsOf(turn: Turn): Item[] {
  switch (turn.role) {
    case "assistant":
      return turn.content.flatMap(assistantItem);
    case "tool":
      return turn.results.map(resultItem);
    case "user": {
      const content = turn.content.map(userPart);
      return content.length === 0 ? [] : [{ type: "message", role: "user", content }];
    }
  }
}

function assistantItem(block: AssistantBlock): Item[] {
  switch (block.kind) {
    case "thinking":
      return isItem(block.wire) ? [block.wire] : [];
    case "text":
      if (isMessageFrame(block.wire)) {
        const content = [{ type: "output_text" as const, text: block.text, annotations: [] }];
        return [{ ...block.wire, type: "message", role: "assistant", content }];
      }
      return [{ type: "message", role: "assistant", content: block.text }];
    case "tool_use": {
      const { wire, id: call_id, name, input } = block;
      const frame = isRecord(wire) ? wire : {};
      return [{ ...frame, type: "function_call", call_id, name, arguments: input }];
    }
  }
}

/** Of this very model's own responses, unchanged. */
function isItem(wire: unknown): wire is Item {
  return isRecord(wire) && typeof wire["type"] === "string";
}

/** Id, status and phase of a message of this very model's own. */
function isMessageFrame(
  wire: unknown,
): wire is Omit<OpenAI.Responses.ResponseOutputMessage, "type" | "role" | "content"> {
  return isRecord(wire) && typeof wire["id"] === "string";
}

function userPart(block: TextBlock | FileBlock): Part {
  if (block.kind === "text") return { type: "input_text", text: block.text };
  if (block.mediaType === "text/plain") return { type: "input_text", text: fileText(block) };
  if (block.mediaType === "application/pdf") {
    return { type: "input_file", filename: block.name, file_data: dataUrl(block) };
  }
  return { type: "input_image", detail: "auto", image_url: dataUrl(block) };
}

function resultItem(result: ToolResultBlock): Item {
  const text = resultText(result);
  const output =
    result.files.length === 0
      ? text
      : [{ type: "input_text" as const, text }, ...result.files.map(userPart)];
  return { type: "function_call_output", call_id: result.id, output };
}

function responseOf(response: OpenAI.Responses.Response, caller: Caller): ModelResponse {
  const content = response.output.flatMap(blockOf);
  const { usage } = response;
  const cacheRead = tokens(usage?.input_tokens_details?.cached_tokens);
  const cacheWrite = tokens(usage?.input_tokens_details?.cache_write_tokens);
  const stop = stopOf(response);
  if (stop === "content_filter" && content.length === 0) {
    throw failure("MODEL_FILTERED", "content_filter", caller);
  }
  return {
    content,
    stop,
    usage: {
      input: tokens(tokens(usage?.input_tokens) - cacheRead - cacheWrite),
      output: tokens(usage?.output_tokens),
      cacheRead,
      cacheWrite,
    },
  };
}

function stopOf({
  status,
  incomplete_details: why,
  output,
}: OpenAI.Responses.Response): StopReason {
  if (status === "incomplete") {
    return why?.reason === "content_filter" ? "content_filter" : "max_tokens";
  }
  if (output.some(({ type }) => type === "function_call")) return "tool_use";
  const isRefusal = output.some(
    (item) => item.type === "message" && item.content.some(({ type }) => type === "refusal"),
  );
  return isRefusal ? "refusal" : "end_turn";
}

function blockOf(item: OpenAI.Responses.ResponseOutputItem): AssistantBlock[] {
  if (item.type === "message") {
    const { type: _type, role: _role, content, ...frame } = item;
    const text = content
      .map((part) => (part.type === "refusal" ? part.refusal : part.text))
      .join("");
    return text === "" ? [] : [{ kind: "text", text, wire: z.json().parse(frame) }];
  }
  if (item.type === "function_call") {
    const { type: _type, call_id: id, name, arguments: input, ...frame } = item;
    return [{ kind: "tool_use", id, name, input, wire: z.json().parse(frame) }];
  }
  // Without its content a thought cannot be sent back, as nothing is stored; and a call of the provider's own tools,
  // none of which are offered, would want a result.
  const isKept =
    item.type === "reasoning"
      ? typeof item.encrypted_content === "string"
      : !item.type.includes("call");
  return isKept ? [{ kind: "thinking", wire: z.json().parse(item) }] : [];
}
