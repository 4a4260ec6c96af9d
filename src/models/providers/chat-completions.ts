import type OpenAI from "openai";
import type { AssistantBlock } from "../../core/block.ts";
import { type Chunk, createReader, failedCall, watchDone } from "./compatible-reader.ts";
import type { ToolSpec } from "../../core/tool-spec.ts";
import {
  type FileBlock,
  type Model,
  ModelError,
  type ModelRequest,
  type TextBlock,
  type ToolResultBlock,
  type Turn,
} from "../model.ts";
import { FORCED, type Forcing, formInWords } from "../output-forms.ts";
import { createStreamingModel, type ModelOptions, type Streaming } from "../provider.ts";
import { isRecord } from "../../core/json.ts";
import { argumentsOf, dataUrl, fileText, isBlank, resultText, turnsFor } from "../turns.ts";
import { strictly } from "./openai-access.ts";

type Message = OpenAI.Chat.ChatCompletionMessageParam;
type TextPart = OpenAI.Chat.ChatCompletionContentPartText;
type Part = TextPart | OpenAI.Chat.ChatCompletionContentPartImage;

interface Access extends Pick<
  Streaming<OpenAI>,
  "apiKey" | "variables" | "throttles" | "maxFileBytes" | "connect"
> {
  id: string;
}

/** A model behind OpenAI's Chat Completions API, as many servers speak it. */
export function createChatModel(options: ModelOptions, { id, ...access }: Access): Model {
  const { name, effort } = options;
  return createStreamingModel<OpenAI>(id, options, {
    ...access,
    forcings: ["format", "tool", "words"],
    async ask(client, request, caller, onDelta, forcing) {
      const { signal } = caller;
      const body = {
        ...bodyOf(id, toldOfForm(request)),
        ...(await outputOf(request, forcing)),
        model: name,
        ...(effort === undefined ? {} : { reasoning_effort: effort }),
        stream_options: { include_usage: true },
        stream: true as const,
      };
      const { Stream } = await import("openai/streaming");
      const reader = createReader(onDelta);
      try {
        const response = await client.chat.completions.create(body, { signal }).asResponse();
        const { watched, sawDone } = watchDone(response);
        const stream = Stream.fromSSEResponse<Chunk>(watched, new AbortController(), client);
        for await (const chunk of stream) reader.take(chunk);
        return reader.finish(caller, sawDone());
      } catch (error) {
        const attempted = failedCall(error);
        if (attempted === undefined) throw error;
        return reader.finishMalformed(attempted);
      }
    },
  });
}

function bodyOf(id: string, { system, tools, turns, toolChoice, maxOutputTokens }: ModelRequest) {
  const prompt: Message[] = isBlank(system) ? [] : [{ role: "system", content: system }];
  return {
    max_tokens: maxOutputTokens,
    ...(tools.length === 0 ? {} : { tools: tools.map(listed), tool_choice: toolChoice }),
    messages: [...prompt, ...turnsFor(id, turns).flatMap(messagesOf)],
  };
}

function listed({ name, description, schema }: ToolSpec) {
  return { type: "function" as const, function: { name, description, parameters: schema } };
}

/** In every way of forcing: there are servers that take each of them and heed none. */
function toldOfForm(request: ModelRequest): ModelRequest {
  const { system, output } = request;
  if (output === undefined) return request;
  const parts = [system, formInWords(output)].filter((part) => !isBlank(part));
  return { ...request, system: parts.join("\n\n") };
}

async function outputOf(
  { tools, output }: ModelRequest,
  forcing: Forcing | undefined,
): Promise<Partial<OpenAI.Chat.ChatCompletionCreateParams>> {
  if (output === undefined || forcing === "words") return {};
  const { name, schema } = output;
  if (forcing === "format")
    return {
      response_format: { type: "json_schema", json_schema: { name, ...(await strictly(schema)) } },
    };
  return {
    tools: [...tools, { name, description: FORCED, schema }].map(listed),
    tool_choice: { type: "function", function: { name } },
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
  const { content: parts, ...reasoning } = Object.fromEntries(
    thoughts.flatMap((thought) => Object.entries(thought)),
  );
  const message: Message = {
    ...reasoning,
    role: "assistant",
    content: text === "" ? null : text,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  if (!Array.isArray(parts)) return [message];
  // Mistral wants its thoughts back where they stood: as parts of the content, before the text.
  const written = text === "" ? [] : [{ type: "text", text }];
  return [Object.assign(message, { content: [...parts, ...written] })];
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
